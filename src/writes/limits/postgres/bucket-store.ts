import type { PgPool } from "../../../db/postgres/pool.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import type { StateClock } from "../../../db/state/state-clock.ts";
import type { Sweep } from "../../../db/state/sweep.ts";
import { type BucketStore, decideCharges } from "../bucket-store.ts";

/** Locks the buckets, always in the order of their names, and reads them. */
const lock = pgStatement<{ name: string; full_at_ms: number }, [names: string]>(
  "rate_buckets.lock",
  `INSERT INTO rate_buckets (name, full_at_ms)
   SELECT t.value, 0 FROM jsonb_array_elements_text($1::text::jsonb) AS t(value) ORDER BY t.value
   ON CONFLICT (name) DO UPDATE SET full_at_ms = rate_buckets.full_at_ms RETURNING name, full_at_ms`,
);
const put = pgStatement<unknown, [fullAtMs: number, name: string]>(
  "rate_buckets.put",
  "UPDATE rate_buckets SET full_at_ms = $1 WHERE name = $2",
);
const deleteFull = pgStatement<unknown, [beforeMs: number, max: number]>(
  "rate_buckets.sweep",
  `DELETE FROM rate_buckets WHERE name IN
   (SELECT b.name FROM rate_buckets b WHERE b.full_at_ms < $1 ORDER BY b.full_at_ms LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

/** Creates the buckets of all nodes. */
export function createPostgresBuckets(pool: PgPool, clock: StateClock): BucketStore {
  return {
    take: (charges) =>
      pool.transaction(async (tx) => {
        const rows = await tx.all(lock, JSON.stringify(charges.map(({ name }) => name)));
        const before = new Map(rows.map((row) => [row.name, row.full_at_ms]));
        const { states, fullAtMs } = decideCharges(
          charges,
          charges.map(({ name }) => before.get(name) ?? 0),
          clock.nowMs(),
        );
        for (const [at, fullAt] of (fullAtMs ?? []).entries())
          await tx.run(put, fullAt, charges[at]?.name ?? "");
        return states;
      }),
  };
}

/** Deletes buckets that are full. */
export function bucketSweep(pool: PgPool, clock: StateClock): Sweep {
  return {
    name: "rate_buckets",
    async step(maxRows) {
      const deleted = await pool.run(deleteFull, clock.sweepableSecs() * 1000, maxRows);
      return { deleted, more: deleted === maxRows };
    },
  };
}
