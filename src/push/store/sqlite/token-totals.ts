import type { StateDatabase } from "../../../db/state/database.ts";
import { statement } from "../../../db/state/statement.ts";
import { type TokenState, tokenStates } from "../token-store.ts";

/** Change of the number of rows by state. */
export type StateCounts = { readonly [state in TokenState]?: number };

/** Columns that determine the state of a row; 1 for true. */
export interface StateRow {
  readonly enabled: number;
  readonly has_token: number;
}

export function stateOf(row: StateRow): TokenState {
  if (row.has_token !== 1) return "no_token";
  return row.enabled === 1 ? "enabled" : "disabled";
}

/** Returns the change of the totals when rows are added (`by` 1) or deleted (-1). */
export function countStates(rows: readonly StateRow[], by: 1 | -1): StateCounts {
  const counts: { [state in TokenState]?: number } = {};
  for (const row of rows) counts[stateOf(row)] = (counts[stateOf(row)] ?? 0) + by;
  return counts;
}

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
