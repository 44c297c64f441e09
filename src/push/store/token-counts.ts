import { type TokenState, tokenStates } from "./token-store.ts";

/** Change of the number of rows by state. */
export type StateCounts = { readonly [state in TokenState]?: number };

/** Columns that determine the state of a row. SQLite has 1 for true. */
export interface StateRow {
  readonly enabled: number | boolean;
  readonly has_token: number | boolean;
}

export function stateOf(row: StateRow): TokenState {
  if (!row.has_token) return "no_token";
  return row.enabled ? "enabled" : "disabled";
}

/** Returns the change of the totals when rows are added (`by` 1) or deleted (-1). */
export function countStates(rows: readonly StateRow[], by: 1 | -1): StateCounts {
  const counts: { [state in TokenState]?: number } = {};
  for (const row of rows) counts[stateOf(row)] = (counts[stateOf(row)] ?? 0) + by;
  return counts;
}

/** Adds up changes of the totals. */
export function sumOfCounts(...changes: readonly StateCounts[]): StateCounts {
  const sum: { [state in TokenState]?: number } = {};
  for (const state of tokenStates) {
    const count = changes.reduce((total, change) => total + (change[state] ?? 0), 0);
    if (count !== 0) sum[state] = count;
  }
  return sum;
}
