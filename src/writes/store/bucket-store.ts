import { sql } from "../../db/state/sql.ts";
import type { StateDb, Sweep } from "../../db/state/state-db.ts";
import { index, key, table, text, whole } from "../../db/state/table.ts";

/**
 * Token buckets that are exact over all nodes, by a name such as `key:<api_key_id>`: the time at which the bucket is full again, unix ms.
 * A full bucket has no row, or one that maintenance deletes.
 */
export const rateBuckets = table(
  "rate_buckets",
  {
    name: key(text()),
    full_at_ms: whole(),
  },
  {
    indexes: [index("rate_buckets_by_time", ["full_at_ms"])],
  },
);

/** Tokens to take from one bucket. */
export interface BucketCharge {
  readonly name: string;
  readonly tokens: number;
  readonly burst: number;
  readonly msPerToken: number;
}

/** A bucket after a charge. */
export interface BucketState {
  /** Whole tokens left. */
  readonly left: number;
  readonly fullInMs: number;
  /** When the charge would be admitted; 0 if this bucket has enough. */
  readonly retryInMs: number;
}

/** Token buckets that are exact over all nodes. They start full. */
export type BucketStore = ReturnType<typeof createBuckets>;

/** The effect of charges on buckets. */
export interface Taken {
  readonly states: readonly BucketState[];
  /** When each bucket is full again, whole unix ms; undefined if nothing is taken. */
  readonly fullAtMs: readonly number[] | undefined;
}

/** Decides charges. `fullAtMs` are the times of the buckets before the charges; 0 for a bucket without a row. */
export function decideCharges(
  charges: readonly BucketCharge[],
  fullAtMs: readonly number[],
  nowMs: number,
): Taken {
  const planned = charges.map((charge, at) => {
    const { tokens, burst, msPerToken } = charge;
    const before = Math.max(fullAtMs[at] ?? 0, nowMs);
    const missingMs = before - nowMs + (Math.min(tokens, burst) - burst) * msPerToken;
    // Stored times are whole milliseconds, so a large number of small charges adds up to slightly more than their tokens.
    const retryInMs = missingMs > Math.min(burst, msPerToken / 2) ? Math.ceil(missingMs) : 0;
    return { charge, before, after: Math.ceil(before + tokens * msPerToken), retryInMs };
  });
  const isTaken = planned.every(({ retryInMs }) => retryInMs === 0);
  const states = planned.map(({ charge: { burst, msPerToken }, before, after, retryInMs }) => {
    const fullInMs = (isTaken ? after : before) - nowMs;
    return { left: Math.max(0, Math.round(burst - fullInMs / msPerToken)), fullInMs, retryInMs };
  });
  return { states, fullAtMs: isTaken ? planned.map(({ after }) => after) : undefined };
}

/** Locks the buckets, always ordered by name, and reads them. In SQLite a refused charge writes nothing. */
const lock = sql<{ name: string; full_at_ms: number }, [names: string]>(
  "rate_buckets.lock",
  `INSERT INTO rate_buckets (name, full_at_ms) SELECT t.value, 0 FROM elements($1) t WHERE true ORDER BY t.value
   ON CONFLICT (name) DO UPDATE SET full_at_ms = rate_buckets.full_at_ms RETURNING name, full_at_ms`,
  "SELECT name, full_at_ms FROM rate_buckets WHERE name IN (SELECT value FROM json_each(?1))",
);
const put = sql<unknown, [name: string, fullAtMs: number]>(
  "rate_buckets.put",
  `INSERT INTO rate_buckets (name, full_at_ms) VALUES ($1, $2)
   ON CONFLICT (name) DO UPDATE SET full_at_ms = excluded.full_at_ms`,
);
const deleteFull = sql<unknown, [beforeMs: number, max: number]>(
  "rate_buckets.sweep",
  `DELETE FROM rate_buckets WHERE name IN
   (SELECT b.name FROM rate_buckets b WHERE b.full_at_ms < $1 ORDER BY b.full_at_ms LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

export function createBuckets(db: StateDb) {
  return {
    /**
     * Takes the tokens of all charges in one transaction, or none if one bucket has too few. A charge for more than a bucket's size waits
     * until the bucket is full, and then leaves it empty for correspondingly longer.
     *
     * @param charges for different buckets
     * @returns the buckets in the order of the charges
     */
    take: db.decision("buckets.take", async (tx, charges: readonly BucketCharge[]) => {
      const names = charges.map(({ name }) => name);
      const before = new Map(
        (await tx.all(lock, JSON.stringify(names))).map((row) => [row.name, row.full_at_ms]),
      );
      const { states, fullAtMs } = decideCharges(
        charges,
        names.map((name) => before.get(name) ?? 0),
        tx.clock.nowMs(),
      );
      for (const [at, fullAt] of (fullAtMs ?? []).entries()) await tx.run(put, names[at] ?? "", fullAt);
      return states;
    }),
  };
}

/** Deletes buckets that are full. */
export function bucketSweep(db: StateDb): Sweep {
  return db.sweep("rate_buckets", (tx, maxRows) =>
    tx.run(deleteFull, tx.clock.sweepableSecs() * 1000, maxRows),
  );
}
