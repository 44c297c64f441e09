import { sql } from "../../db/state/sql.ts";
import type { StateDb, Sweep } from "../../db/state/state-db.ts";
import { index, table, text, whole } from "../../db/state/table.ts";

/** Until when a user has seen the notifications of a type, in the app of an owner. Unix seconds. */
export const seenNotifications = table(
  "seen_notifications",
  {
    owner_fid: whole(),
    fid: whole(),
    type: text(),
    seen_at: whole(),
  },
  {
    key: ["owner_fid", "fid", "type"],
    indexes: [index("seen_notifications_by_time", ["seen_at"])],
  },
);

/** The types of notifications that a user can mark as seen, by their names in the compat dialect. */
export const SEEN_TYPES = ["follows", "recasts", "likes", "mentions", "replies", "quotes"] as const;
export type SeenType = (typeof SEEN_TYPES)[number];

/** Until when a user has seen the notifications of each type, unix seconds. A type without an entry was never marked. */
export type SeenTimes = Readonly<Partial<Record<SeenType, number>>>;

/** Which notifications the users of an owner's app have seen. Each owner has separate marks. */
export type SeenStore = ReturnType<typeof createSeen>;

/** How long an unchanged mark is stored. */
export const SEEN_RETENTION_SECS = 400 * 86_400;

const find = sql<{ type: SeenType; seen_at: number }, [ownerFid: number, fid: number]>(
  "seen.find",
  "SELECT type, seen_at FROM seen_notifications WHERE owner_fid = $1 AND fid = $2",
);
const mark = sql<unknown, [ownerFid: number, fid: number, types: string, seenAt: number]>(
  "seen.mark",
  `INSERT INTO seen_notifications (owner_fid, fid, type, seen_at)
   SELECT $1, $2, t.value, $4 FROM elements($3) t WHERE true ORDER BY t.value
   ON CONFLICT (owner_fid, fid, type) DO UPDATE SET seen_at = greatest(seen_notifications.seen_at, excluded.seen_at)`,
);
const deleteOld = sql<unknown, [before: number, max: number]>(
  "seen.sweep",
  `DELETE FROM seen_notifications WHERE (owner_fid, fid, type) IN
   (SELECT s.owner_fid, s.fid, s.type FROM seen_notifications s WHERE s.seen_at < $1
    ORDER BY s.seen_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

export function createSeen(db: StateDb) {
  return {
    find: async (ownerFid: number, fid: number): Promise<SeenTimes> =>
      Object.fromEntries((await db.all(find, ownerFid, fid)).map(({ type, seen_at }) => [type, seen_at])),
    /** Marks types as seen until a time. A time earlier than the stored one has no effect. */
    mark: db.decision(
      "seen.mark",
      async (tx, ownerFid: number, fid: number, types: readonly SeenType[], seenAtSecs: number) => {
        await tx.run(mark, ownerFid, fid, JSON.stringify(types), seenAtSecs);
      },
      { isOneStatement: true },
    ),
  };
}

export function seenSweep(db: StateDb): Sweep {
  return db.sweep("seen_notifications", (tx, maxRows) =>
    tx.run(deleteOld, tx.clock.sweepableSecs() - SEEN_RETENTION_SECS, maxRows),
  );
}
