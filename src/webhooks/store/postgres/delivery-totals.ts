import type { PgQueries } from "../../../db/postgres/pool.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import type { StateNode } from "../../../db/state/state-node.ts";
import { type DeliveryState, deliveryStates } from "../delivery-log.ts";

const add = pgStatement<unknown, [states: DeliveryState[], slot: number, counts: number[]]>(
  "delivery-totals.add",
  `INSERT INTO delivery_totals AS t (state, slot, count)
   SELECT a.state, $2, a.count FROM unnest($1::text[], $3::bigint[]) AS a(state, count) ORDER BY a.state
   ON CONFLICT (state, slot) DO UPDATE SET count = t.count + excluded.count`,
);
const read = pgStatement<{ state: DeliveryState; count: number }>(
  "delivery-totals.read",
  "SELECT state, sum(count)::bigint AS count FROM delivery_totals GROUP BY state",
);

/**
 * The slot of a node's totals. Claims and settlements have one of their own, so that they do not wait for the disk with a
 * transaction that does.
 */
export function totalsSlot({ slot }: StateNode, pool: "main" | "queue"): number {
  return 2 * slot + (pool === "queue" ? 1 : 0);
}

/** Updates the totals, as the last statement of the transaction that changes the rows. */
export async function addToDeliveryTotals(
  tx: PgQueries,
  slot: number,
  counts: Partial<Record<DeliveryState, number>>,
): Promise<void> {
  const states = deliveryStates.filter((state) => (counts[state] ?? 0) !== 0);
  if (states.length === 0) return;
  await tx.run(
    add,
    states,
    slot,
    states.map((state) => counts[state] ?? 0),
  );
}

export async function readDeliveryTotals(db: PgQueries): Promise<Record<DeliveryState, number>> {
  const totals = { queued: 0, delivered: 0, failed: 0, dropped: 0 };
  for (const { state, count } of await db.all(read)) totals[state] = count;
  return totals;
}
