import { sql, sqlEach } from "../../db/state/sql.ts";
import type { Queries, Tx } from "../../db/state/state-db.ts";
import { type DeliveryState, deliveryStates } from "./delivery-log.ts";

const add = sqlEach<unknown, [state: DeliveryState, count: number], [slot: number, isUnsynced: number]>(
  "delivery-totals.add",
  `INSERT INTO delivery_totals AS d (state, slot, count)
   SELECT t.value ->> 0, 2 * $2::integer + $3::integer, (t.value ->> 1)::bigint FROM rows($1) t ORDER BY 1
   ON CONFLICT (state, slot) DO UPDATE SET count = d.count + excluded.count`,
  {
    row: `INSERT INTO delivery_totals AS d (state, count) SELECT ?3, ?4 WHERE ?1 + ?2 IS NOT NULL
      ON CONFLICT (state) DO UPDATE SET count = d.count + excluded.count`,
  },
);
const read = sql<{ state: DeliveryState; count: number }>(
  "delivery-totals.read",
  "SELECT state, sum(count)::bigint AS count FROM delivery_totals GROUP BY state",
);

/** Whether the commit of a decision is synced to the disk. */
export type Durability = "synced" | "unsynced";

/**
 * Updates the totals, as the last statement of the transaction that changes the rows. In PostgreSQL each node has its own rows, and
 * separate ones for claims and settlements, so that unsynced transactions do not wait for the disk behind synced ones.
 */
export function addToDeliveryTotals(
  tx: Tx,
  durability: Durability,
  counts: Partial<Record<DeliveryState, number>>,
): Promise<unknown> {
  const added = deliveryStates.flatMap((state) => (counts[state] ? [[state, counts[state]] as const] : []));
  return tx.each(add, added, tx.node.slot, durability === "unsynced" ? 1 : 0);
}

export async function readDeliveryTotals(queries: Queries): Promise<Record<DeliveryState, number>> {
  const totals = { queued: 0, delivered: 0, failed: 0, dropped: 0 };
  for (const { state, count } of await queries.all(read)) totals[state] = count;
  return totals;
}
