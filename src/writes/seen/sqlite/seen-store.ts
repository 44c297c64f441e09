import type { StateDatabase } from "../../../db/state/database.ts";
import type { StateClock } from "../../../db/state/state-clock.ts";
import { statement } from "../../../db/state/statement.ts";
import type { StoreWrites } from "../../../db/state/store-writes.ts";
import type { SweepStep } from "../../../db/state/sweep.ts";
import { SEEN_RETENTION_SECS, type SeenStore, type SeenType } from "../seen-store.ts";

const find = statement<{ type: SeenType; seenAt: number }, [ownerFid: number, fid: number]>(
  "seen.find",
  "SELECT type, seen_at AS seenAt FROM seen_notifications WHERE owner_fid = ? AND fid = ?",
);
const mark = statement<unknown, [ownerFid: number, fid: number, type: string, seenAt: number]>(
  "seen.mark",
  `INSERT INTO seen_notifications (owner_fid, fid, type, seen_at) VALUES (?, ?, ?, ?)
   ON CONFLICT (owner_fid, fid, type) DO UPDATE SET seen_at = max(seen_at, excluded.seen_at)`,
);
const deleteOld = statement<unknown, [before: number, max: number]>(
  "seen.sweep",
  `DELETE FROM seen_notifications WHERE (owner_fid, fid, type) IN
   (SELECT owner_fid, fid, type FROM seen_notifications WHERE seen_at < ? ORDER BY seen_at LIMIT ?)`,
);

export function seenReads(db: StateDatabase): Pick<SeenStore, "find"> {
  return {
    find: async (ownerFid, fid) =>
      Object.fromEntries(db.all(find, ownerFid, fid).map(({ type, seenAt }) => [type, seenAt])),
  };
}

export function seenWrites(db: StateDatabase): StoreWrites<SeenStore, "mark"> {
  return {
    mark(ownerFid, fid, types, seenAt) {
      for (const type of types) db.run(mark, ownerFid, fid, type, seenAt);
    },
  };
}

export function seenSweep(db: StateDatabase, clock: StateClock): SweepStep {
  return (maxRows) => {
    const deleted = db.run(deleteOld, clock.sweepableSecs() - SEEN_RETENTION_SECS, maxRows);
    return { deleted, more: deleted === maxRows };
  };
}
