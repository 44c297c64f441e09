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

// `types` has a bit for each type of reaction in the group: 1 for likes, 2 for recasts.
const latestReaction = (type: 1 | 2, ref: string, types: string, until: string) =>
  `CASE WHEN ${types} & ${type} THEN coalesce((SELECT r.timestamp FROM reactions r
     WHERE r.target_hash = ${ref} AND r.target_fid = ?1 AND r.type = ${type} AND r.timestamp <= ${until}
       AND r.fid != ?1 AND NOT ${isSilenced("r.fid")}
     ORDER BY r.timestamp DESC LIMIT 1), -1) ELSE -1 END`;
const latest = (ref: string, types: string, until: string) =>
  `max(${latestReaction(1, ref, types, until)}, ${latestReaction(2, ref, types, until)})`;

/** Selects, for each group, the newest row of the last window that starts at or above the position. */
const windowsAbove = statement<
  { at: number; newestAt: number; isShown: number },
  [fid: number, ...Position, anchor: number, windowSecs: number, groupsJson: string]
>(
  "skeleton.notifications.windows-above",
  `WITH RECURSIVE chain (position, ref, types, at) AS (
     SELECT j.key, unhex(j.value ->> 0), j.value ->> 1, ${latest("unhex(j.value ->> 0)", "(j.value ->> 1)", "?6")}
     FROM json_each(?8) j
     UNION ALL
     SELECT b.position, b.ref, b.types, ${latest("b.ref", "b.types", "b.at - ?7")} FROM chain b WHERE b.at >= ?2
   )
   SELECT b.position AS at, min(b.at) AS newestAt,
     min(b.at) > ?2 OR EXISTS (SELECT 1 FROM notifications n
       WHERE n.fid = ?1 AND n.timestamp = ?2 AND n.ref = b.ref
         AND ((n.kind = 3 AND b.types & 1) OR (n.kind = 4 AND b.types & 2))
         AND (n.kind, n.actor_fid, n.ref) >= (?3, ?4, ?5) AND NOT ${isSilenced("n.actor_fid")}) AS isShown
   FROM chain b WHERE b.at >= ?2 GROUP BY b.position`,
);

/**
 * Returns a page of the notifications of an fid, newest first, with reactions to a cast and follows grouped by windows.
 * Reads each row from the position down to the end of the page's last window once, in growing chunks: the cost is that of
 * the acts that the page counts and of those of one more window.
 *
 * With `kinds`, rows of other kinds are skipped, up to a bound: a page before the last may then be short or empty, and its
 * last entries may count too few acts.
 */
export function notificationPage(
  db: IndexDatabase,
  query: {
    fid: number;
    limit: number;
    windowSecs: number;
    after: PagingState | undefined;
    grouping?: Grouping;
    /** All kinds by default. */
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
    if (after && !after.isComplete) findEnds(db, { fid, windowSecs, grouping, state: after, rows, ends });
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

/** Finds the windows of the casts in `rows` that did not fit into the cursor, and adds their ends to `ends`. */
function findEnds(
  db: IndexDatabase,
  known: {
    fid: number;
    windowSecs: number;
    grouping: Grouping;
    state: PagingState;
    rows: readonly NotificationRow[];
    ends: Map<string, number>;
  },
): void {
  const { fid, windowSecs, grouping, state, rows, ends } = known;
  const unknown = new Map<GroupKey, readonly [ref: string, types: number]>();
  for (const row of rows) {
    if (row.timestamp <= state.last.timestamp - windowSecs) continue;
    const group = grouping.groupOf(row);
    if (group === undefined || group === "follows" || ends.has(windowKey(group))) continue;
    unknown.set(group, [Buffer.from(row.ref).toString("hex"), grouping.typesWith(row)]);
  }
  if (unknown.size === 0) return;
  const groups = [...unknown.keys()];
  const json = JSON.stringify([...unknown.values()]);
  const found = db.all(windowsAbove, fid, ...positionOf(state.last), state.anchor, windowSecs, json);
  for (const { at, newestAt, isShown } of found) {
    const group = groups[at];
    if (group !== undefined && isShown === 1) ends.set(windowKey(group), newestAt - windowSecs);
  }
}

export type ThreadShape = readonly ["int", "int", "int", "hash"];

const threadShape: ThreadShape = ["int", "int", "int", "hash"];
export const channelNotificationsCursor = cursorCodec("notifications/channel", threadShape);
export const parentUrlNotificationsCursor = cursorCodec("notifications/parent_url", threadShape);

/** Returns the mentions and replies in threads whose root has one of `urls` as parent, newest first, one entry each. */
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
  // A repeated URL would repeat its rows.
  const urlsJson = JSON.stringify([...new Set(urls)]);
  const rows = db.all(rowsInThreads, fid, ...position, limit + 1, urlsJson);
  const entries = rows.map((row) => ({ newest: row, hash: hex(row.ref), acts: [row], count: 1 }));
  return cutPage(entries, limit, ({ newest, hash }) =>
    cursors.encode([newest.timestamp, newest.kind, newest.actorFid, hash]),
  );
}
