import type { PgQueries, PgTransaction } from "../../../db/postgres/pool.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import type { StateCounts } from "../token-counts.ts";
import { type TokenState, tokenStates } from "../token-store.ts";

const add = pgStatement<unknown, [slot: number, states: readonly string[], counts: readonly number[]]>(
  "token-totals.add",
  `INSERT INTO token_totals AS t (state, slot, count)
   SELECT state, $1, count FROM unnest($2::text[], $3::bigint[]) AS n (state, count) ORDER BY state
   ON CONFLICT (state, slot) DO UPDATE SET count = t.count + excluded.count`,
);
const read = pgStatement<{ state: TokenState; count: number }>(
  "token-totals.read",
  "SELECT state, sum(count)::bigint AS count FROM token_totals GROUP BY state",
);

/**
 * Updates the totals of this node's slot, as the last statement of the transaction that changes the rows: other
 * transactions of the node wait for these rows until the commit.
 */
export async function addToTotals(tx: PgTransaction, slot: number, counts: StateCounts): Promise<void> {
  const states = tokenStates.filter((state) => (counts[state] ?? 0) !== 0);
  if (states.length === 0) return;
  await tx.run(
    add,
    slot,
    states,
    states.map((state) => counts[state] ?? 0),
  );
}

export async function readTotals(db: PgQueries): Promise<Record<TokenState, number>> {
  const totals = { enabled: 0, disabled: 0, no_token: 0 };
  for (const { state, count } of await db.all(read)) totals[state] = count;
  return totals;
}
