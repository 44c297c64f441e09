import type { PgPool } from "../../../db/postgres/pool.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import type { StateClock } from "../../../db/state/state-clock.ts";
import type { Sweep } from "../../../db/state/sweep.ts";
import { SEEN_RETENTION_SECS, type SeenStore, type SeenType } from "../seen-store.ts";

const find = pgStatement<{ type: SeenType; seenAt: number }, [ownerFid: number, fid: number]>(
  "seen.find",
  `SELECT type, seen_at AS "seenAt" FROM seen_notifications WHERE owner_fid = $1 AND fid = $2`,
);
const mark = pgStatement<unknown, [ownerFid: number, fid: number, types: string, seenAt: number]>(
  "seen.mark",
  `INSERT INTO seen_notifications (owner_fid, fid, type, seen_at)
   SELECT $1, $2, t.value, $4 FROM jsonb_array_elements_text($3::text::jsonb) AS t(value) ORDER BY t.value
   ON CONFLICT (owner_fid, fid, type) DO UPDATE SET seen_at = greatest(seen_notifications.seen_at, excluded.seen_at)`,
);
const deleteOld = pgStatement<unknown, [before: number, max: number]>(
  "seen.sweep",
  `DELETE FROM seen_notifications WHERE (owner_fid, fid, type) IN
   (SELECT s.owner_fid, s.fid, s.type FROM seen_notifications s WHERE s.seen_at < $1
    ORDER BY s.seen_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

/** Creates the marks of all nodes. */
export function createPostgresSeen(pool: PgPool): SeenStore {
  return {
    find: async (ownerFid, fid) =>
      Object.fromEntries((await pool.all(find, ownerFid, fid)).map(({ type, seenAt }) => [type, seenAt])),
    async mark(ownerFid, fid, types, seenAt) {
      await pool.run(mark, ownerFid, fid, JSON.stringify(types), seenAt);
    },
  };
}

export function seenSweep(pool: PgPool, clock: StateClock): Sweep {
  return {
    name: "seen_notifications",
    async step(maxRows) {
      const deleted = await pool.run(deleteOld, clock.sweepableSecs() - SEEN_RETENTION_SECS, maxRows);
      return { deleted, more: deleted === maxRows };
    },
  };
}
