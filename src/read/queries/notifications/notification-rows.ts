import type { IndexDatabase } from "../../../db/index/database.ts";
import { LinkType } from "../../../db/index/messages/columns.ts";
import type { NotificationKind } from "../../../db/index/project/notifications.ts";
import { statement } from "../../../db/index/statement.ts";
import { hashesOfAnyCasts } from "../../hydrate/casts.ts";
import { isLiveCast } from "../ordered-page.ts";
import type { NotificationRow, RowPosition } from "./notification-groups.ts";

/** The position of a row in the table. Rows of one actor, kind and second are ordered there by id, not by hash. */
export type Position = [timestamp: number, kind: number, actorFid: number, ref: number];

export const FROM_THE_NEWEST: Position = [Number.MAX_SAFE_INTEGER, 0, 0, 0];

export function positionOf({ timestamp, kind, actorFid, ref }: NotificationRow): Position {
  return [timestamp, kind, actorFid, ref];
}

/** Returns the position before the rows of an actor, kind and second. */
export function positionFrom({ timestamp, kind, actorFid }: Tie): Position {
  return [timestamp, kind, actorFid, Number.MAX_SAFE_INTEGER];
}

type Tie = Pick<NotificationRow, "timestamp" | "kind" | "actorFid">;

/** Reports whether two rows have the same actor, kind and second, so that the hashes of their casts decide the order. */
export function isTied(a: Tie, b: Tie): boolean {
  return a.timestamp === b.timestamp && a.kind === b.kind && a.actorFid === b.actorFid;
}

/** Returns the condition that the viewer `?1` blocks or mutes an actor. */
export const isSilenced = (actor: string) =>
  `EXISTS (SELECT 1 FROM links s WHERE s.fid = ?1 AND s.type IN (${LinkType.Block}, 'mute') AND s.target_fid = ${actor})`;

const COLUMNS = "n.timestamp, n.kind, n.actor_fid AS actorFid, n.ref";
const BELOW = "(n.timestamp, n.kind, n.actor_fid, n.ref) < (?2, ?3, ?4, ?5)";
const NEWEST_FIRST = "n.timestamp DESC, n.kind DESC, n.actor_fid DESC, n.ref DESC";

// Rows of mentions, replies and follows exist only while these are live. A reaction outlives its target, and may name a cast
// that does not exist or has another author; such casts have other ids.
const targetExists = (row: string) => `(${row}.kind NOT IN (3, 4) OR ${isLiveCast(`${row}.ref`)})`;
const isVisible = (row: string) => `NOT ${isSilenced(`${row}.actor_fid`)} AND ${targetExists(row)}`;

type Below = [fid: number, ...Position, limit: number];

const declareRows = (name: string, isShown: string) =>
  statement<NotificationRow, Below>(
    `skeleton.notifications.${name}`,
    `SELECT ${COLUMNS} FROM notifications n
     WHERE n.fid = ?1 AND ${BELOW} AND ${isShown}
     ORDER BY ${NEWEST_FIRST} LIMIT ?6`,
  );
const visibleRows = declareRows("visible-rows", isVisible("n"));
/** For viewers without blocks and mutes: checking the actor of each row takes most of the time of the other statement. */
const unfilteredRows = declareRows("rows", targetExists("n"));
const SILENCING = [LinkType.Block, "mute"] as const;
const hasSilenced = statement<{ one: number }, [fid: number]>(
  "skeleton.notifications.has-silenced",
  `SELECT 1 AS one FROM links WHERE fid = ? AND type IN (${LinkType.Block}, 'mute') LIMIT 1`,
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
  statement<NotificationRow, [fid: number, ...Position, scannedBefore: number]>(
    `skeleton.notifications.${name}`,
    `SELECT ${COLUMNS} ${from} ORDER BY ${NEWEST_FIRST} LIMIT 1 OFFSET ?6`,
  );
/** The scan of rows of every kind, and the scan of only mentions and replies. */
const scans = {
  all: { rows: declareScan("scan", fromAll), end: declareScanEnd("end-of-scan", fromAll) },
  casts: {
    rows: declareScan("scan-of-casts", fromCasts),
    end: declareScanEnd("end-of-scan-of-casts", fromCasts),
  },
};

const MIN_CHUNK_ROWS = 48;
const FIRST_SCAN_ROWS = 256;
const MAX_CHUNK_ROWS = 16_384;
/** Maximum number of rows of any kind read for a page of selected kinds. */
const MAX_SCANNED = 40_000;

/** The next rows. `stoppedAt` is the last row read if the scan stopped at its limit before the end. */
interface Chunk {
  readonly rows: readonly NotificationRow[];
  readonly stoppedAt: NotificationRow | undefined;
}

/**
 * Yields the notifications of an fid after a row, newest first, in growing chunks. Rows of one actor, kind and second are in
 * one chunk, ordered by the hashes of their casts, greatest first.
 */
export function* chunksBelow(
  db: IndexDatabase,
  query: {
    fid: number;
    last: RowPosition | undefined;
    kinds: readonly NotificationKind[] | undefined;
    /** Number of entries on the page. */
    limit: number;
  },
): Iterable<Chunk> {
  const { fid, last, kinds } = query;
  const firstRows = Math.max(MIN_CHUNK_ROWS, 2 * query.limit);
  const from = last ? positionFrom(last) : FROM_THE_NEWEST;
  db.willRead(() => [
    { tree: "notifications", keys: [[fid, from[0]]] },
    { tree: "links", keys: SILENCING.map((type) => [fid, type]) },
  ]);
  const chunks =
    kinds === undefined ? allChunks(db, fid, from, firstRows) : chunksOfKinds(db, fid, from, kinds);
  /** The end of the previous chunk, which the next one may continue. */
  let held: NotificationRow[] = [];
  for (const { rows, stoppedAt, isLast } of chunks) {
    const found = [...held, ...rows];
    const final = isLast ? undefined : found.at(-1);
    const complete = final ? found.findIndex((row) => isTied(row, final)) : found.length;
    held = found.slice(complete);
    yield { rows: sortedTies(db, found.slice(0, complete), last), stoppedAt };
  }
}

/** Sorts the rows of one actor, kind and second by hash, and removes those up to `last`. */
function sortedTies(
  db: IndexDatabase,
  rows: readonly NotificationRow[],
  last: RowPosition | undefined,
): readonly NotificationRow[] {
  const unsure = new Set<NotificationRow>();
  let before: NotificationRow | undefined;
  for (const row of rows) {
    if (before && isTied(before, row)) unsure.add(before).add(row);
    else if (last && isTied(last, row)) unsure.add(row);
    before = row;
  }
  if (unsure.size === 0) return rows;
  const tied = [...unsure];
  const hashes = hashesOfAnyCasts(
    db,
    tied.map(({ ref }) => ref),
  );
  const hashOf = new Map(tied.map((row, at) => [row, hashes[at] ?? "0x"]));
  const order = (a: string = "0x", b: string = "0x") => (a === b ? 0 : a < b ? 1 : -1);
  return rows
    .filter((row) => !last || !isTied(last, row) || order(hashOf.get(row), last.hash) > 0)
    .sort((a, b) => (isTied(a, b) ? order(hashOf.get(a), hashOf.get(b)) : 0));
}

interface RawChunk extends Chunk {
  readonly isLast: boolean;
}

function* allChunks(db: IndexDatabase, fid: number, from: Position, firstRows: number): Iterable<RawChunk> {
  const rowsBelow = db.get(hasSilenced, fid) ? visibleRows : unfilteredRows;
  let position = from;
  for (let limit = firstRows; ; limit = Math.min(2 * limit, MAX_CHUNK_ROWS)) {
    const rows = db.all(rowsBelow, fid, ...position, limit);
    const lowest = rows.at(-1);
    const isLast = !lowest || rows.length < limit;
    yield { rows, stoppedAt: undefined, isLast };
    if (isLast) return;
    position = positionOf(lowest);
  }
}

/** Scans rows of all kinds in steps, at most `MAX_SCANNED` rows, and yields those of the selected kinds. */
function* chunksOfKinds(
  db: IndexDatabase,
  fid: number,
  from: Position,
  kinds: readonly NotificationKind[],
): Iterable<RawChunk> {
  const scan = kinds.every((kind) => kind < 3) ? scans.casts : scans.all;
  const json = JSON.stringify(kinds);
  let position = from;
  let step = FIRST_SCAN_ROWS;
  for (let scanned = step; ; scanned += step) {
    const rows = db.all(scan.rows, fid, ...position, step, json);
    const end = db.get(scan.end, fid, ...position, step - 1);
    const isStopped = scanned + step > MAX_SCANNED;
    yield { rows, stoppedAt: isStopped ? end : undefined, isLast: !end || isStopped };
    if (!end || isStopped) return;
    position = positionOf(end);
    step = Math.min(4 * step, MAX_CHUNK_ROWS);
  }
}
