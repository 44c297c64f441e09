import type { StateDatabase } from "../../../db/state/database.ts";
import { statement } from "../../../db/state/statement.ts";
import type { StateCounts } from "../token-counts.ts";
import { type TokenState, tokenStates } from "../token-store.ts";

const add = statement<unknown, [state: TokenState, count: number]>(
  "token-totals.add",
  `INSERT INTO token_totals (state, count) VALUES (?1, ?2)
   ON CONFLICT (state) DO UPDATE SET count = count + ?2`,
);
const read = statement<{ state: TokenState; count: number }>(
  "token-totals.read",
  "SELECT state, count FROM token_totals",
);

/** Updates the totals within the transaction that changes the rows. */
export function addToTotals(db: StateDatabase, counts: StateCounts): void {
  for (const state of tokenStates) {
    const count = counts[state] ?? 0;
    if (count !== 0) db.run(add, state, count);
  }
}

export function readTotals(db: StateDatabase): Record<TokenState, number> {
  const totals = { enabled: 0, disabled: 0, no_token: 0 };
  for (const { state, count } of db.all(read)) totals[state] = count;
  return totals;
}
