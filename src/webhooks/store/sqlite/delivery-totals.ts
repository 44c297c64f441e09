import type { StateDatabase } from "../../../db/state/database.ts";
import { statement } from "../../../db/state/statement.ts";
import type { DeliveryState } from "../delivery-log.ts";

const add = statement<unknown, [state: DeliveryState, count: number]>(
  "delivery-totals.add",
  `INSERT INTO delivery_totals (state, count) VALUES (?1, ?2)
   ON CONFLICT (state) DO UPDATE SET count = count + ?2`,
);
const read = statement<{ state: DeliveryState; count: number }>(
  "delivery-totals.read",
  "SELECT state, count FROM delivery_totals",
);

/** Updates the totals within the transaction that changes the rows. */
export function addToDeliveryTotals(db: StateDatabase, state: DeliveryState, count: number): void {
  if (count !== 0) db.run(add, state, count);
}

export function readDeliveryTotals(db: StateDatabase): Record<DeliveryState, number> {
  const totals = { queued: 0, delivered: 0, failed: 0, dropped: 0 };
  for (const { state, count } of db.all(read)) totals[state] = count;
  return totals;
}
