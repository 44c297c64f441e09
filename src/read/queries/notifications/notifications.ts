import type { IndexDatabase } from "../../../db/index/database.ts";
import type { NotificationKind } from "../../../db/index/project/notifications.ts";
import { statement } from "../../../db/index/statement.ts";
import { cursorCodec, cutPage, type Key, type Page } from "../../cursor.ts";
import { hex } from "../../hydrate/casts.ts";
import { mergeNewest } from "../merge-newest.ts";
import { encodePagingState, type PagingState, windowKey } from "./notification-cursor.ts";
import {
  byCast,
  type Grouping,
  type GroupKey,
  type NotificationEntry,
  NotificationGrouper,
  type NotificationRow,
} from "./notification-groups.ts";
import { chunksBelow, FROM_THE_NEWEST, isSilenced, type Position, positionOf } from "./notification-rows.ts";

const rowsInThreads = statement<NotificationRow, [fid: number, ...Position, limit: number, urlsJson: string]>(
  "skeleton.notifications.in-threads",
  `${mergeNewest({
    sources: { id: "j.value", from: "json_each(?7) j" },
    rowsOf: (url) => `thread_notifications n
      WHERE n.fid = ?1 AND n.root_parent_url = ${url} AND NOT ${isSilenced("n.actor_fid")}`,
    key: [
      { name: "timestamp", sql: "n.timestamp", kind: "int" },
      { name: "kind", sql: "n.kind", kind: "digit" },
      { name: "actorFid", sql: "n.actor_fid", kind: "int" },
      { name: "ref", sql: "n.ref", kind: "blob" },
    ],
    below: "?2, ?3, ?4, ?5",
    limit: "?6",
  })}
   SELECT timestamp, kind, actorFid, ref FROM merged below`,
);

// `types` has the bit of each type of reaction that the group holds: 1 for likes, 2 for recasts.
const latestReaction = (type: 1 | 2, ref: string, types: string, until: string) =>
  `CASE WHEN ${types} & ${type} THEN coalesce((SELECT r.timestamp FROM reactions r
     WHERE r.target_hash = ${ref} AND r.target_fid = ?1 AND r.type = ${type} AND r.timestamp <= ${until}
       AND r.fid != ?1 AND NOT ${isSilenced("r.fid")}
     ORDER BY r.timestamp DESC LIMIT 1), -1) ELSE -1 END`;
const latest = (ref: string, types: string, until: string) =>
  `max(${latestReaction(1, ref, types, until)}, ${latestReaction(2, ref, types, until)})`;

/** For each group the newest row of the last window that begins at or above the position: its chain from the anchor. */
const windowsAbove = statement<
  { at: number; newestAt: number; isShown: number },
  [fid: number, ...Position, anchor: number, windowSecs: number, groupsJson: string]
>(
  "skeleton.notifications.windows-above",
  `WITH RECURSIVE chain (place, ref, types, at) AS (
     SELECT j.key, unhex(j.value ->> 0), j.value ->> 1, ${latest("unhex(j.value ->> 0)", "(j.value ->> 1)", "?6")}
     FROM json_each(?8) j
     UNION ALL
     SELECT b.place, b.ref, b.types, ${latest("b.ref", "b.types", "b.at - ?7")} FROM chain b WHERE b.at >= ?2
   )
   SELECT b.place AS at, min(b.at) AS newestAt,
     min(b.at) > ?2 OR EXISTS (SELECT 1 FROM notifications n
       WHERE n.fid = ?1 AND n.timestamp = ?2 AND n.ref = b.ref
         AND ((n.kind = 3 AND b.types & 1) OR (n.kind = 4 AND b.types & 2))
         AND (n.kind, n.actor_fid, n.ref) >= (?3, ?4, ?5) AND NOT ${isSilenced("n.actor_fid")}) AS isShown
   FROM chain b WHERE b.at >= ?2 GROUP BY b.place`,
);

/**
 * A page of what an fid is told of, newest first, reactions to a cast and follows grouped by windows. Reads the rows
 * from the position down to the end of the page's last window, once each, in chunks that grow: the cost is that of the
 * acts which the page counts and of those of one window behind it.
 *
 * With `kinds` rows of other kinds are passed over, a bounded number of them: a page may then be short, or empty, before
 * the end, and its last entries may count too few acts.
 */
export function notificationPage(
  db: IndexDatabase,
  query: {
    fid: number;
    limit: number;
    windowSecs: number;
    after: PagingState | undefined;
    grouping?: Grouping;
    /** All kinds where it is left out. */
    kinds?: readonly NotificationKind[];
  },
): Page<NotificationEntry> {
  const { fid, limit, windowSecs, after, grouping = byCast, kinds } = query;
  const ends = new Map(after?.ends);
  const grouper = new NotificationGrouper({
    limit,
    windowSecs,
    grouping,
    shownEnds: (group) => ends.get(windowKey(group)),
  });
  let anchor = after?.anchor;
  let stoppedAt: NotificationRow | undefined;
  for (const chunk of chunksBelow(db, { fid, last: after?.last, kinds })) {
    const { rows } = chunk;
    anchor ??= rows[0]?.timestamp;
    if (after && !after.isComplete) findEnds(db, { fid, windowSecs, grouping, walk: after, rows, ends });
    if (!rows.every((row) => grouper.add(row))) break;
    stoppedAt = chunk.stoppedAt;
  }
  const last = grouper.hasMore ? grouper.entries.at(-1)?.newest : stoppedAt;
  if (last === undefined) return { rows: grouper.entries, cursor: null };
  for (const [group, end] of grouper.openedWindowEnds()) ends.set(windowKey(group), end);
  const isComplete = after?.isComplete ?? true;
  const cursor = encodePagingState({ anchor: anchor ?? last.timestamp, last, ends, isComplete });
  return { rows: grouper.entries, cursor };
}

/** Finds the windows that the cursor had no room for, of the casts in `rows`, and puts their ends into `ends`. */
function findEnds(
  db: IndexDatabase,
  known: {
    fid: number;
    windowSecs: number;
    grouping: Grouping;
    walk: PagingState;
    rows: readonly NotificationRow[];
    ends: Map<string, number>;
  },
): void {
  const { fid, windowSecs, grouping, walk, rows, ends } = known;
  const unknown = new Map<GroupKey, readonly [ref: string, types: number]>();
  for (const row of rows) {
    if (row.timestamp <= walk.last.timestamp - windowSecs) continue;
    const group = grouping.groupOf(row);
    if (group === undefined || group === "follows" || ends.has(windowKey(group))) continue;
    unknown.set(group, [Buffer.from(row.ref).toString("hex"), grouping.typesWith(row)]);
  }
  if (unknown.size === 0) return;
  const groups = [...unknown.keys()];
  const json = JSON.stringify([...unknown.values()]);
  const found = db.all(windowsAbove, fid, ...positionOf(walk.last), walk.anchor, windowSecs, json);
  for (const { at, newestAt, isShown } of found) {
    const group = groups[at];
    if (group !== undefined && isShown === 1) ends.set(windowKey(group), newestAt - windowSecs);
  }
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
  // A URL that is named twice would give its rows twice.
  const urlsJson = JSON.stringify([...new Set(urls)]);
  const rows = db.all(rowsInThreads, fid, ...position, limit + 1, urlsJson);
  const entries = rows.map((row) => ({ newest: row, hash: hex(row.ref), acts: [row], count: 1 }));
  return cutPage(entries, limit, ({ newest, hash }) =>
    cursors.encode([newest.timestamp, newest.kind, newest.actorFid, hash]),
  );
}
