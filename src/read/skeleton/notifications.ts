import type { IndexDatabase } from "../../index/database.ts";
import { statement } from "../../index/statement.ts";
import { cursorCodec, cutPage, type Key, type Page } from "../cursor.ts";
import { type Hash, hex } from "../hydrate/casts.ts";
import { encodeWalk, type NotificationWalk, windowKey } from "./notification-cursor.ts";
import {
  groupOf,
  type NotificationEntry,
  NotificationGrouper,
  type NotificationRow,
} from "./notification-groups.ts";

type Position = [timestamp: number, kind: number, actorFid: number, ref: Uint8Array];

const FROM_THE_NEWEST: Position = [Number.MAX_SAFE_INTEGER, 0, 0, new Uint8Array()];

/** Whether the viewer `?1` wants to hear nothing of this actor. */
const isSilenced = (actor: string) =>
  `EXISTS (SELECT 1 FROM links s WHERE s.fid = ?1 AND s.type IN ('block', 'mute') AND s.target_fid = ${actor})`;

const COLUMNS = "n.timestamp, n.kind, n.actor_fid AS actorFid, n.ref";
const BELOW = "(n.timestamp, n.kind, n.actor_fid, n.ref) < (?2, ?3, ?4, ?5)";
const NEWEST_FIRST = "n.timestamp DESC, n.kind DESC, n.actor_fid DESC, n.ref DESC";

// A mention, a reply and a follow have a row only while they live. A reaction outlives its target, and may name a cast
// that is not there or is somebody else's.
const rowsBelow = statement<NotificationRow, [fid: number, ...Position, limit: number]>(
  "skeleton.notifications.rows",
  `SELECT ${COLUMNS} FROM notifications n
   WHERE n.fid = ?1 AND ${BELOW} AND NOT ${isSilenced("n.actor_fid")}
     AND (n.kind NOT IN (3, 4) OR EXISTS (SELECT 1 FROM casts c WHERE c.hash = n.ref AND +c.fid = ?1))
   ORDER BY ${NEWEST_FIRST} LIMIT ?6`,
);

const rowsInThreads = statement<NotificationRow, [fid: number, ...Position, limit: number, urlsJson: string]>(
  "skeleton.notifications.in-threads",
  `SELECT ${COLUMNS} FROM notifications n INDEXED BY notifications_of_casts
   CROSS JOIN casts c ON c.hash = n.ref
   WHERE n.fid = ?1 AND n.kind < 3 AND ${BELOW} AND NOT ${isSilenced("n.actor_fid")}
     AND CASE WHEN c.root_hash IS NULL THEN c.parent_url ELSE c.root_parent_url END
       IN (SELECT value FROM json_each(?7))
   ORDER BY ${NEWEST_FIRST} LIMIT ?6`,
);

const latestReaction = (type: 1 | 2, ref: string, until: string) =>
  `coalesce((SELECT r.timestamp FROM reactions r
     WHERE r.target_hash = ${ref} AND r.target_fid = ?1 AND r.type = ${type} AND r.timestamp <= ${until}
       AND r.fid != ?1 AND NOT ${isSilenced("r.fid")}
     ORDER BY r.timestamp DESC LIMIT 1), -1)`;
const latest = (ref: string, until: string) =>
  `max(${latestReaction(1, ref, until)}, ${latestReaction(2, ref, until)})`;

/** For each cast the newest row of the last window that begins at or above the position: its chain from the anchor. */
const windowsAbove = statement<
  { hash: string; newestAt: number; isShown: number },
  [fid: number, ...Position, anchor: number, windowSecs: number, hashesJson: string]
>(
  "skeleton.notifications.windows-above",
  `WITH RECURSIVE chain (ref, at) AS (
     SELECT unhex(j.value), ${latest("unhex(j.value)", "?6")} FROM json_each(?8) j
     UNION ALL
     SELECT b.ref, ${latest("b.ref", "b.at - ?7")} FROM chain b WHERE b.at >= ?2
   )
   SELECT lower(hex(b.ref)) AS hash, min(b.at) AS newestAt,
     min(b.at) > ?2 OR EXISTS (SELECT 1 FROM notifications n
       WHERE n.fid = ?1 AND n.timestamp = ?2 AND n.kind IN (3, 4) AND n.ref = b.ref
         AND (n.kind, n.actor_fid, n.ref) >= (?3, ?4, ?5) AND NOT ${isSilenced("n.actor_fid")}) AS isShown
   FROM chain b WHERE b.at >= ?2 GROUP BY b.ref`,
);

const FIRST_CHUNK_ROWS = 256;
const MAX_CHUNK_ROWS = 16_384;

/**
 * A page of what an fid is told of, newest first, reactions to a cast and follows grouped by windows. Reads the rows
 * from the position down to the end of the page's last window, once each, in chunks that grow: the cost is that of the
 * acts which the page counts and of those of one window behind it.
 */
export function notificationPage(
  db: IndexDatabase,
  query: { fid: number; limit: number; windowSecs: number; after: NotificationWalk | undefined },
): Page<NotificationEntry> {
  const { fid, limit, windowSecs, after } = query;
  const ends = new Map(after?.ends);
  const grouper = new NotificationGrouper({
    limit,
    windowSecs,
    shownEnds: (group) => ends.get(windowKey(group)),
  });
  let anchor = after?.anchor;
  for (const chunk of chunksBelow(db, fid, after?.last)) {
    anchor ??= chunk[0]?.timestamp;
    if (after && !after.isComplete) findEnds(db, { fid, windowSecs, walk: after, rows: chunk, ends });
    if (!chunk.every((row) => grouper.take(row))) break;
  }
  const last = grouper.entries.at(-1)?.newest;
  if (!grouper.hasMore || last === undefined) return { rows: grouper.entries, cursor: null };
  for (const [group, end] of grouper.begunEnds()) ends.set(windowKey(group), end);
  const isComplete = after?.isComplete ?? true;
  const cursor = encodeWalk({ anchor: anchor ?? last.timestamp, last, ends, isComplete });
  return { rows: grouper.entries, cursor };
}

function* chunksBelow(
  db: IndexDatabase,
  fid: number,
  last: NotificationRow | undefined,
): Iterable<NotificationRow[]> {
  let position = last ? positionOf(last) : FROM_THE_NEWEST;
  for (let limit = FIRST_CHUNK_ROWS; ; limit = Math.min(4 * limit, MAX_CHUNK_ROWS)) {
    const chunk = db.all(rowsBelow, fid, ...position, limit);
    yield chunk;
    const lowest = chunk.at(-1);
    if (!lowest || chunk.length < limit) return;
    position = positionOf(lowest);
  }
}

/** Finds the windows that the cursor had no room for, of the casts in `rows`, and puts their ends into `ends`. */
function findEnds(
  db: IndexDatabase,
  known: {
    fid: number;
    windowSecs: number;
    walk: NotificationWalk;
    rows: readonly NotificationRow[];
    ends: Map<string, number>;
  },
): void {
  const { fid, windowSecs, walk, rows, ends } = known;
  const reached = rows.filter((row) => row.timestamp > walk.last.timestamp - windowSecs);
  const unknown = new Set<Hash>();
  for (const group of reached.map(groupOf)) {
    if (group !== undefined && group !== "follows" && !ends.has(windowKey(group))) unknown.add(group);
  }
  if (unknown.size === 0) return;
  const json = JSON.stringify([...unknown].map((hash) => hash.slice(2)));
  const found = db.all(windowsAbove, fid, ...positionOf(walk.last), walk.anchor, windowSecs, json);
  for (const { hash, newestAt, isShown } of found) {
    if (isShown === 1) ends.set(windowKey(`0x${hash}`), newestAt - windowSecs);
  }
}

function positionOf({ timestamp, kind, actorFid, ref }: NotificationRow): Position {
  return [timestamp, kind, actorFid, ref];
}

export type ThreadShape = readonly ["int", "int", "int", "hash"];

const threadShape: ThreadShape = ["int", "int", "int", "hash"];
export const channelNotificationsCursor = cursorCodec("notifications/channel", threadShape);
export const parentUrlNotificationsCursor = cursorCodec("notifications/parent_url", threadShape);

/** The mentions and replies whose thread's root stands under one of `urls`, newest first, each an entry of its own. */
export function notificationsInThreads(
  db: IndexDatabase,
  query: {
    fid: number;
    urls: readonly string[];
    limit: number;
    after: Key<ThreadShape> | undefined;
    cursors: typeof channelNotificationsCursor;
  },
): Page<NotificationEntry> {
  const { fid, urls, limit, after, cursors } = query;
  const position: Position = after
    ? [after[0], after[1], after[2], Buffer.from(after[3].slice(2), "hex")]
    : FROM_THE_NEWEST;
  const rows = db.all(rowsInThreads, fid, ...position, limit + 1, JSON.stringify(urls));
  const entries = rows.map((row) => ({ newest: row, hash: hex(row.ref), acts: [row], count: 1 }));
  return cutPage(entries, limit, ({ newest, hash }) =>
    cursors.encode([newest.timestamp, newest.kind, newest.actorFid, hash]),
  );
}
