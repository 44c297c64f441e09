import type { IndexDatabase } from "../../../db/index/database.ts";
import { LinkType } from "../../../db/index/messages/columns.ts";
import { NO_CAST, NotificationKind } from "../../../db/index/project/notifications.ts";
import { statement } from "../../../db/index/statement.ts";
import type { Page } from "../../cursor.ts";
import { bytesOf, type Hash, hashesOfAnyCasts } from "../../hydrate/casts.ts";
import type { SelectVisible } from "../../rules/visible-page.ts";
import {
  byCast,
  encodePagingState,
  type Grouping,
  type GroupKey,
  type NotificationEntry,
  NotificationGrouper,
  type NotificationRow,
  type PagingState,
  windowKey,
} from "./notification-groups.ts";
import { chunksBelow, isSilenced } from "./notification-rows.ts";

/** SQL condition that an actor blocks the user `?1`, if the query asks for it. */
const blocksMutually = (actor: string) =>
  `(?9 AND EXISTS (SELECT 1 FROM links s WHERE s.fid = ${actor} AND s.type = ${LinkType.Block} AND s.target_fid = ?1))`;

// `types` has a bit for each type of reaction in the group: 1 for likes, 2 for recasts.
const latestReaction = (type: 1 | 2, ref: string, types: string, until: string) =>
  `CASE WHEN ${types} & ${type} THEN coalesce((SELECT r.timestamp FROM reactions r
     WHERE r.target_id = ${ref} AND r.type = ${type} AND r.timestamp <= ${until}
       AND r.fid != ?1 AND NOT ${isSilenced("r.fid")} AND NOT ${blocksMutually("r.fid")}
     ORDER BY r.timestamp DESC LIMIT 1), -1) ELSE -1 END`;
const latest = (ref: string, types: string, until: string) =>
  `max(${latestReaction(1, ref, types, until)}, ${latestReaction(2, ref, types, until)})`;

/** Selects, per group, the newest row of the last window that starts at or above the position. */
const windowsAbove = statement<
  { at: number; newestAt: number; isShown: number },
  [
    fid: number,
    timestamp: number,
    kind: number,
    actorFid: number,
    hash: Uint8Array,
    anchor: number,
    windowSecs: number,
    groupsJson: string,
    isMutual: 0 | 1,
  ]
>(
  "skeleton.notifications.windows-above",
  `WITH RECURSIVE chain (position, ref, types, at) AS (
     SELECT j.key, j.value ->> 0, j.value ->> 1, ${latest("(j.value ->> 0)", "(j.value ->> 1)", "?6")}
     FROM json_each(?8) j
     UNION ALL
     SELECT b.position, b.ref, b.types, ${latest("b.ref", "b.types", "b.at - ?7")} FROM chain b WHERE b.at >= ?2
   )
   SELECT b.position AS at, min(b.at) AS newestAt,
     min(b.at) > ?2 OR EXISTS (SELECT 1 FROM notifications n
       WHERE n.fid = ?1 AND n.timestamp = ?2 AND n.ref = b.ref
         AND ((n.kind = 3 AND b.types & 1) OR (n.kind = 4 AND b.types & 2))
         AND ((n.kind, n.actor_fid) > (?3, ?4)
           OR ((n.kind, n.actor_fid) = (?3, ?4) AND (SELECT hash FROM casts WHERE id = n.ref) >= ?5))
         AND NOT ${isSilenced("n.actor_fid")} AND NOT ${blocksMutually("n.actor_fid")}) AS isShown
   FROM chain b WHERE b.at >= ?2 GROUP BY b.position`,
);

/**
 * Returns a page of the notifications of an fid, newest first, with reactions to a cast and follows grouped by windows.
 * Reads each row from the position down to the end of the page's last window once, in growing chunks, so the cost is that of
 * the acts that the page counts and of one more window.
 *
 * With `kinds`, rows of other kinds are skipped, up to a limit. A page before the last may then be short or empty, and its
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
    /** Selects the acts that are shown, in addition to hiding those of users that the user blocks or mutes. Default: all. */
    visible?: SelectVisible<NotificationRow>;
  },
): Page<NotificationEntry> {
  const { fid, limit, windowSecs, after, grouping = byCast, kinds, visible } = query;
  const isMutual = visible ? 1 : 0;
  const ends = new Map(after?.ends);
  const hashes = new CastHashes(db);
  const keyOf = (row: NotificationRow) => windowKey(grouping, row, hashes.of(row));
  const grouper = new NotificationGrouper({
    limit,
    windowSecs,
    grouping,
    shownEnds: (row) => (isInReach(row, after, windowSecs) ? ends.get(keyOf(row)) : undefined),
  });
  let anchor = after?.anchor;
  let stoppedAt: NotificationRow | undefined;
  let hidden = 0;
  for (const chunk of chunksBelow(db, { fid, last: after?.last, kinds, limit })) {
    const rows = visible ? visible(chunk.rows) : chunk.rows;
    anchor ??= rows[0]?.timestamp;
    if (after) {
      hashes.load(rows.filter((row) => isInReach(row, after, windowSecs)));
      if (!after.isComplete)
        findEnds(db, { fid, windowSecs, grouping, state: after, rows, ends, keyOf, isMutual });
    }
    if (!rows.every((row) => grouper.add(row))) break;
    stoppedAt = chunk.stoppedAt;
    hidden += chunk.rows.length - rows.length;
    if (hidden <= MAX_HIDDEN) continue;
    stoppedAt = chunk.rows.at(-1);
    break;
  }
  const last = grouper.hasMore ? grouper.entries.at(-1)?.newest : stoppedAt;
  if (last === undefined) return { rows: grouper.entries, cursor: null };
  // Only windows that extend past the page are in its cursor.
  const opened = [...grouper.openedWindowEnds()].filter(([, end]) => end < last.timestamp);
  hashes.load([...opened.map(([row]) => row), last]);
  for (const [row, end] of opened) ends.set(keyOf(row), end);
  const isComplete = after?.isComplete ?? true;
  const cursor = encodePagingState({
    anchor: anchor ?? last.timestamp,
    last: { ...last, hash: hashes.of(last) },
    ends,
    isComplete,
  });
  return { rows: grouper.entries, cursor };
}

/** Maximum number of hidden acts read for a page. */
const MAX_HIDDEN = 10_000;

/** Reports whether a window of an earlier page may contain the row. */
function isInReach(row: NotificationRow, after: PagingState | undefined, windowSecs: number): boolean {
  return after !== undefined && row.timestamp > after.last.timestamp - windowSecs;
}

/** Maps the ids of casts in the rows to the hashes that cursors contain. */
class CastHashes {
  readonly #db: IndexDatabase;
  readonly #hashes = new Map<number, Hash>([[NO_CAST, "0x"]]);

  constructor(db: IndexDatabase) {
    this.#db = db;
  }

  load(rows: readonly NotificationRow[]): void {
    const refs = [...new Set(rows.map(({ ref }) => ref))].filter((ref) => !this.#hashes.has(ref));
    if (refs.length === 0) return;
    const hashes = hashesOfAnyCasts(this.#db, refs);
    refs.forEach((ref, at) => {
      this.#hashes.set(ref, hashes[at] ?? "0x");
    });
  }

  /** Returns the hash of a row that was loaded; `0x` for a follow. */
  of({ ref }: NotificationRow): Hash {
    return this.#hashes.get(ref) ?? "0x";
  }
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
    keyOf: (row: NotificationRow) => string;
    /** 1 if acts of users who block the user are hidden too. */
    isMutual: 0 | 1;
  },
): void {
  const { fid, windowSecs, grouping, state, rows, ends, keyOf, isMutual } = known;
  const unknown = new Map<GroupKey, NotificationRow>();
  for (const row of rows) {
    if (!isInReach(row, state, windowSecs)) continue;
    const group = grouping.groupOf(row);
    if (group === undefined || group === "follows" || ends.has(keyOf(row))) continue;
    unknown.set(group, row);
  }
  if (unknown.size === 0) return;
  const groups = [...unknown.values()];
  const json = JSON.stringify(groups.map((row) => [row.ref, grouping.typesWith(row)]));
  const { timestamp, kind, actorFid, hash } = state.last;
  const position = [timestamp, kind, actorFid, bytesOf(hash)] as const;
  const found = db.all(windowsAbove, fid, ...position, state.anchor, windowSecs, json, isMutual);
  for (const { at, newestAt, isShown } of found) {
    const row = groups[at];
    if (row !== undefined && isShown === 1) ends.set(keyOf(row), newestAt - windowSecs);
  }
}

/** Maximum number of acts that are counted. */
export const MAX_UNSEEN = 1000;
/** Number of newest acts among which unseen ones are counted. */
const MAX_EXAMINED = 10_000;

/**
 * The times, in Unix seconds, up to which the acts of each kind have been seen. A kind without an entry has not been seen.
 */
export type SeenUntil = Partial<Record<NotificationKind, number>>;

const all = statement<{ n: number }, [fid: number]>(
  "skeleton.unseen",
  `SELECT count(*) AS n FROM (SELECT 1 FROM notifications WHERE fid = ? LIMIT ${MAX_UNSEEN}) below`,
);
const newer = statement<
  { n: number },
  [fid: number, from: number, mention: number, reply: number, like: number, recast: number, follow: number]
>(
  "skeleton.unseen.newer",
  `SELECT count(*) AS n FROM (
     SELECT 1 FROM (
       SELECT kind, timestamp FROM notifications WHERE fid = ?1 AND timestamp > ?2
       ORDER BY timestamp DESC LIMIT ${MAX_EXAMINED}) below
     WHERE timestamp > CASE kind WHEN ${NotificationKind.Mention} THEN ?3 WHEN ${NotificationKind.Reply} THEN ?4
       WHEN ${NotificationKind.Like} THEN ?5 WHEN ${NotificationKind.Recast} THEN ?6 ELSE ?7 END
     LIMIT ${MAX_UNSEEN}) b`,
);

/** Counts the unseen acts that notify an fid, among the newest 10,000. */
export function countUnseen(db: IndexDatabase, fid: number, seen: SeenUntil): number {
  const { Mention, Reply, Like, Recast, Follow } = NotificationKind;
  const times = [Mention, Reply, Like, Recast, Follow].map((kind) => seen[kind] ?? 0);
  const [mention = 0, reply = 0, like = 0, recast = 0, follow = 0] = times;
  const from = Math.min(...times);
  if (from === 0 && times.every((time) => time === 0)) return db.get(all, fid)?.n ?? 0;
  return db.get(newer, fid, from, mention, reply, like, recast, follow)?.n ?? 0;
}

const unseenRows = statement<NotificationRow, [fid: number, from: number]>(
  "skeleton.unseen.rows",
  `SELECT timestamp, kind, actor_fid AS actorFid, ref FROM notifications WHERE fid = ? AND timestamp > ?
   ORDER BY timestamp DESC LIMIT ${MAX_EXAMINED}`,
);

/** Number of acts whose relations are read together. */
const UNSEEN_CHUNK = 2 * MAX_UNSEEN;

/** Counts acts like `countUnseen`, but only those that are shown. */
export function countUnseenAmong(
  db: IndexDatabase,
  { fid, seen, visible }: { fid: number; seen: SeenUntil; visible: SelectVisible<NotificationRow> },
): number {
  const kinds = Object.values(NotificationKind);
  const from = Math.min(...kinds.map((kind) => seen[kind] ?? 0));
  const unseen = db.all(unseenRows, fid, from).filter(({ kind, timestamp }) => timestamp > (seen[kind] ?? 0));
  let count = 0;
  for (let at = 0; at < unseen.length && count < MAX_UNSEEN; at += UNSEEN_CHUNK)
    count += visible(unseen.slice(at, at + UNSEEN_CHUNK)).length;
  return Math.min(count, MAX_UNSEEN);
}
