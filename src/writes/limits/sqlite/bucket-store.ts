import type { StateDatabase } from "../../../db/state/database.ts";
import type { StateClock } from "../../../db/state/state-clock.ts";
import { statement } from "../../../db/state/statement.ts";
import type { StoreWrites } from "../../../db/state/store-writes.ts";
import type { SweepStep } from "../../../db/state/sweep.ts";
import { type BucketStore, decideCharges } from "../bucket-store.ts";

const find = statement<{ fullAtMs: number }, [name: string]>(
  "rate_buckets.find",
  "SELECT full_at_ms AS fullAtMs FROM rate_buckets WHERE name = ?",
);
const put = statement<unknown, [name: string, fullAtMs: number]>(
  "rate_buckets.put",
  `INSERT INTO rate_buckets (name, full_at_ms) VALUES (?, ?)
   ON CONFLICT (name) DO UPDATE SET full_at_ms = excluded.full_at_ms`,
);
const deleteFull = statement<unknown, [beforeMs: number, max: number]>(
  "rate_buckets.sweep",
  `DELETE FROM rate_buckets WHERE name IN
   (SELECT name FROM rate_buckets WHERE full_at_ms < ? ORDER BY full_at_ms LIMIT ?)`,
);

export function bucketWrites(db: StateDatabase, clock: StateClock): StoreWrites<BucketStore, "take"> {
  return {
    take(charges) {
      const before = charges.map(({ name }) => db.get(find, name)?.fullAtMs ?? 0);
      const { states, fullAtMs } = decideCharges(charges, before, clock.nowMs());
      for (const [at, fullAt] of (fullAtMs ?? []).entries()) db.run(put, charges[at]?.name ?? "", fullAt);
      return states;
    },
  };
}

/** Deletes buckets that are full. */
export function bucketSweep(db: StateDatabase, clock: StateClock): SweepStep {
  return (maxRows) => {
    const deleted = db.run(deleteFull, clock.sweepableSecs() * 1000, maxRows);
    return { deleted, more: deleted === maxRows };
  };
}
