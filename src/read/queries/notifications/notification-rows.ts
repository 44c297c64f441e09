import type { IndexDatabase } from "../../../db/index/database.ts";
import type { NotificationKind } from "../../../db/index/project/notifications.ts";
import { statement } from "../../../db/index/statement.ts";
import type { NotificationRow } from "./notification-groups.ts";

export type Position = [timestamp: number, kind: number, actorFid: number, ref: Uint8Array];

export const FROM_THE_NEWEST: Position = [Number.MAX_SAFE_INTEGER, 0, 0, new Uint8Array()];

export function positionOf({ timestamp, kind, actorFid, ref }: NotificationRow): Position {
  return [timestamp, kind, actorFid, ref];
}

/** Whether the viewer `?1` wants to hear nothing of this actor. */
export const isSilenced = (actor: string) =>
  `EXISTS (SELECT 1 FROM links s WHERE s.fid = ?1 AND s.type IN ('block', 'mute') AND s.target_fid = ${actor})`;

const COLUMNS = "n.timestamp, n.kind, n.actor_fid AS actorFid, n.ref";
const BELOW = "(n.timestamp, n.kind, n.actor_fid, n.ref) < (?2, ?3, ?4, ?5)";
const NEWEST_FIRST = "n.timestamp DESC, n.kind DESC, n.actor_fid DESC, n.ref DESC";

// A mention, a reply and a follow have a row only while they live. A reaction outlives its target, and may name a cast
// that is not there or is somebody else's.
const targetExists = (row: string) =>
  `(${row}.kind NOT IN (3, 4) OR EXISTS (SELECT 1 FROM casts c WHERE c.hash = ${row}.ref AND c.fid = ?1))`;
const isVisible = (row: string) => `NOT ${isSilenced(`${row}.actor_fid`)} AND ${targetExists(row)}`;

type Below = [fid: number, ...Position, limit: number];

const declareRows = (name: string, isShown: string) =>
  statement<NotificationRow, Below>(
    `skeleton.notifications.${name}`,
    `SELECT ${COLUMNS} FROM notifications n
     WHERE n.fid = ?1 AND ${BELOW} AND ${isShown}
     ORDER BY ${NEWEST_FIRST} LIMIT ?6`,
  );
const visibleRows = declareRows("rows-heard", isVisible("n"));
/** For the many who silence nobody: to ask of each row whether its actor is silenced takes most of its time. */
const unfilteredRows = declareRows("rows", targetExists("n"));
const hasSilenced = statement<{ one: number }, [fid: number]>(
  "skeleton.notifications.silences-anybody",
  "SELECT 1 AS one FROM links WHERE fid = ? AND type IN ('block', 'mute') LIMIT 1",
);

const fromAll = `FROM notifications n WHERE n.fid = ?1 AND ${BELOW}`;
const fromCasts = `FROM notifications n INDEXED BY notifications_of_casts
  WHERE n.fid = ?1 AND n.kind < 3 AND ${BELOW}`;

const declareScan = (name: string, from: string) =>
  statement<NotificationRow, [...Below, kindsJson: string]>(
    `skeleton.notifications.${name}`,
    `SELECT below.timestamp, below.kind, below.actor_fid AS actorFid, below.ref
     FROM (SELECT n.timestamp, n.kind, n.actor_fid, n.ref ${from} ORDER BY ${NEWEST_FIRST} LIMIT ?6) below
     WHERE below.kind IN (SELECT value FROM json_each(?7)) AND ${isVisible("below")}
     ORDER BY below.timestamp DESC, below.kind DESC, below.actor_fid DESC, below.ref DESC`,
  );
const declareScanEnd = (name: string, from: string) =>
  statement<NotificationRow, [fid: number, ...Position, walkedBefore: number]>(
    `skeleton.notifications.${name}`,
    `SELECT ${COLUMNS} ${from} ORDER BY ${NEWEST_FIRST} LIMIT 1 OFFSET ?6`,
  );
/** The walk over rows of every kind, and the one over mentions and replies alone. */
const scans = {
  all: { rows: declareScan("walk", fromAll), end: declareScanEnd("end-of-walk", fromAll) },
  casts: {
    rows: declareScan("walk-of-casts", fromCasts),
    end: declareScanEnd("end-of-walk-of-casts", fromCasts),
  },
};

const FIRST_CHUNK_ROWS = 100;
const FIRST_SCAN_ROWS = 256;
const MAX_CHUNK_ROWS = 16_384;
/** Rows of any kind that a page of some kinds passes. */
const MAX_SCANNED = 40_000;

/** The next rows, and where the search for more of them ended before the last one. */
interface Chunk {
  readonly rows: readonly NotificationRow[];
  readonly stoppedAt: NotificationRow | undefined;
}

/** What an fid is told of below a row, newest first, in chunks that grow. */
export function chunksBelow(
  db: IndexDatabase,
  query: {
    fid: number;
    last: NotificationRow | undefined;
    kinds: readonly NotificationKind[] | undefined;
  },
): Iterable<Chunk> {
  const { fid, last, kinds } = query;
  const from = last ? positionOf(last) : FROM_THE_NEWEST;
  return kinds === undefined ? allChunks(db, fid, from) : chunksOfKinds(db, fid, from, kinds);
}

function* allChunks(db: IndexDatabase, fid: number, from: Position): Iterable<Chunk> {
  const rowsBelow = db.get(hasSilenced, fid) ? visibleRows : unfilteredRows;
  let position = from;
  for (let limit = FIRST_CHUNK_ROWS; ; limit = Math.min(4 * limit, MAX_CHUNK_ROWS)) {
    const rows = db.all(rowsBelow, fid, ...position, limit);
    yield { rows, stoppedAt: undefined };
    const lowest = rows.at(-1);
    if (!lowest || rows.length < limit) return;
    position = positionOf(lowest);
  }
}

/** Walks over rows of other kinds as well, in steps, and not further than `MAX_WALKED`. */
function* chunksOfKinds(
  db: IndexDatabase,
  fid: number,
  from: Position,
  kinds: readonly NotificationKind[],
): Iterable<Chunk> {
  const walk = kinds.every((kind) => kind < 3) ? scans.casts : scans.all;
  const json = JSON.stringify(kinds);
  let position = from;
  let step = FIRST_SCAN_ROWS;
  for (let walked = step; ; walked += step) {
    const rows = db.all(walk.rows, fid, ...position, step, json);
    const end = db.get(walk.end, fid, ...position, step - 1);
    yield { rows, stoppedAt: walked + step > MAX_SCANNED ? end : undefined };
    if (!end || walked + step > MAX_SCANNED) return;
    position = positionOf(end);
    step = Math.min(4 * step, MAX_CHUNK_ROWS);
  }
}
