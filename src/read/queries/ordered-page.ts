import { firstCastIdAt, timestampOfCastId } from "../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import type { CursorCodec, Page } from "../cursor.ts";
import { type CastRef, hashesOfCasts } from "../hydrate/cast-ids.ts";
import type { Hash } from "../hydrate/casts.ts";

/** A list whose rows have the order of a rank, and among equal ranks that of a hash. */
export interface RankedList<Row> {
  readonly limit: number;
  /** The last row of the previous page. `isTied`: whether a row has its rank. */
  readonly after: { readonly hash: Hash; readonly isTied: (row: Row) => boolean } | undefined;
  /** The order of the hashes of equal ranks. */
  readonly direction?: "asc" | "desc";
  readonly isTied: (a: Row, b: Row) => boolean;
  /**
   * Returns the first rows by rank, as many as requested unless the list ends. Rows with the rank of `after` are included.
   * Equal ranks may have any order.
   */
  readonly read: (maxRows: number) => readonly Row[];
  /** Returns the hashes of rows. Called for equal ranks only. */
  readonly hashesOf: (rows: readonly Row[]) => readonly Hash[];
}

/**
 * Returns the first `limit` rows of a list in its exact order, and whether it goes on. An index without hashes gives the
 * order of the ranks. This function completes the last rank of the page, sorts equal ranks by hash, and then cuts the page.
 */
export function orderedPage<Row>(list: RankedList<Row>): { rows: Row[]; hasMore: boolean } {
  const { limit, after } = list;
  // The last row of the previous page is read again.
  for (let maxRows = limit + (after ? 2 : 1); ; maxRows = 2 * maxRows + 16) {
    const found = list.read(maxRows);
    const atEnd = found.length < maxRows;
    const rows = sortTies(list, found, atEnd);
    if (atEnd || rows.length >= limit)
      return { rows: rows.slice(0, limit), hasMore: !atEnd || rows.length > limit };
  }
}

/** Sorts equal ranks, removes the rows up to the previous page, and the last rank unless it is complete. */
function sortTies<Row>(list: RankedList<Row>, found: readonly Row[], isComplete: boolean): Row[] {
  const { after, isTied, direction = "desc" } = list;
  if (!hasTies(list, found)) return isComplete ? [...found] : found.slice(0, -1);
  const ties: Row[][] = [];
  for (const row of found) {
    const tie = ties.at(-1);
    const previous = tie?.[0];
    if (tie && previous !== undefined && isTied(previous, row)) tie.push(row);
    else ties.push([row]);
  }
  if (!isComplete) ties.pop();
  const isAfter = (tie: readonly Row[]) =>
    after !== undefined && tie[0] !== undefined && after.isTied(tie[0]);
  const unsorted = ties.filter((tie) => tie.length > 1 || isAfter(tie)).flat();
  if (unsorted.length === 0) return ties.flat();
  const hashes = list.hashesOf(unsorted);
  const hashOf = new Map(unsorted.map((row, at) => [row, hashes[at] ?? "0x"]));
  const sign = direction === "desc" ? -1 : 1;
  const compare = (a: string, b: string) => (a === b ? 0 : a < b ? -sign : sign);
  return ties.flatMap((tie) => {
    const [first] = tie;
    if (first === undefined || !hashOf.has(first)) return tie;
    const rows = isAfter(tie)
      ? tie.filter((row) => compare(hashOf.get(row) ?? "0x", after?.hash ?? "0x") > 0)
      : tie;
    return rows.sort((a, b) => compare(hashOf.get(a) ?? "0x", hashOf.get(b) ?? "0x"));
  });
}

/** Whether the order of some rows depends on their hashes. */
function hasTies<Row>({ after, isTied }: RankedList<Row>, found: readonly Row[]): boolean {
  let previous: Row | undefined;
  for (const row of found) {
    if (previous === undefined ? after?.isTied(row) : isTied(previous, row)) return true;
    previous = row;
  }
  return false;
}

/** The position of the last cast of the previous page. `timestamp`: unix seconds. */
export type TimedKey = readonly [timestamp: number, hash: Hash];

type TimedCursor = CursorCodec<readonly ["int", "hash"]>;

/** The positions in a second before and after all of its casts, newest first. */
export const HIGHEST_HASH: Hash = `0x${"ff".repeat(20)}`;
export const LOWEST_HASH: Hash = `0x${"00".repeat(20)}`;

/** An id above those of all casts. */
export const ABOVE_ALL_CASTS = Number.MAX_SAFE_INTEGER;

/**
 * Returns a page of casts by time, newest first, equal times by hash, greatest first.
 *
 * @param read returns the ids below `below`, the greatest first
 */
export function castPage(
  db: IndexDatabase,
  { limit, after, cursor }: { limit: number; after: TimedKey | undefined; cursor: TimedCursor },
  read: (below: number, maxRows: number) => readonly CastRef[],
): Page<CastRef> {
  const { rows, hasMore } = newestCasts(db, { limit, after }, read);
  return { rows, cursor: hasMore ? cursorAfter(db, rows.at(-1), cursor) : null };
}

/** Returns the first casts of a list by time, newest first. */
export function newestCasts<Row extends CastRef>(
  db: IndexDatabase,
  { limit, after }: { limit: number; after: TimedKey | undefined },
  read: (below: number, maxRows: number) => readonly Row[],
): { rows: Row[]; hasMore: boolean } {
  // Nothing of its second follows the lowest hash.
  const isSecondRead = after?.[1] === LOWEST_HASH;
  const below = after ? firstCastIdAt(after[0] + (isSecondRead ? 0 : 1)) : ABOVE_ALL_CASTS;
  return orderedPage({
    limit,
    after:
      after && !isSecondRead
        ? { hash: after[1], isTied: ({ id }) => timestampOfCastId(id) === after[0] }
        : undefined,
    isTied: (a, b) => timestampOfCastId(a.id) === timestampOfCastId(b.id),
    read: (maxRows) => read(below, maxRows),
    hashesOf: (rows) =>
      hashesOfCasts(
        db,
        rows.map(({ id }) => id),
      ),
  });
}

/** Returns the cursor after a cast. */
export function cursorAfter(
  db: IndexDatabase,
  last: CastRef | undefined,
  cursor: TimedCursor,
): string | null {
  if (last === undefined) return null;
  const [hash = "0x"] = hashesOfCasts(db, [last.id]);
  return cursor.encode([timestampOfCastId(last.id), hash]);
}
