import { BELOW_ALL_CASTS, firstCastIdAt, timestampOfCastId } from "../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { type CursorCodec, cursorCodec, type ListPage, listOf, type Page } from "../cursor.ts";
import { type CastRef, type Hash, hashesOfCasts, hashOfCast } from "../hydrate/casts.ts";

/** A list ordered by a rank, with equal ranks ordered by hash. */
export interface RankedList<Row> {
  readonly limit: number;
  /** The last row of the previous page. `isTied` reports whether a row has the same rank. */
  readonly after: { readonly hash: Hash; readonly isTied: (row: Row) => boolean } | undefined;
  /** The order of the hashes of equal ranks. */
  readonly direction?: "asc" | "desc";
  readonly isTied: (a: Row, b: Row) => boolean;
  /**
   * Returns the first rows by rank, as many as requested unless the list ends. Includes rows with the rank of `after`. Equal
   * ranks may be in any order.
   */
  readonly read: (maxRows: number) => readonly Row[];
  /** Returns the hashes of rows. Called only for equal ranks. */
  readonly hashesOf: (rows: readonly Row[]) => readonly Hash[];
}

/**
 * Returns the first `limit` rows of a list in its exact order, and whether it continues. An index without hashes gives the
 * order of the ranks; this function completes the last rank of the page, sorts equal ranks by hash, and then cuts the page.
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

/** Sorts equal ranks, and removes the rows up to the previous page, as well as the last rank unless it is complete. */
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

/** Reports whether the order of some rows depends on their hashes. */
function hasTies<Row>({ after, isTied }: RankedList<Row>, found: readonly Row[]): boolean {
  let previous: Row | undefined;
  for (const row of found) {
    if (previous === undefined ? after?.isTied(row) : isTied(previous, row)) return true;
    previous = row;
  }
  return false;
}

/** The position of the last cast of the previous page. `timestamp` is in Unix seconds. */
export type TimedKey = readonly [timestamp: number, hash: Hash];

type TimedCursor = CursorCodec<readonly ["int", "hash"]>;

/** The position in a second after all of its casts, which are sorted by descending hash. */
export const LOWEST_HASH: Hash = `0x${"00".repeat(20)}`;

/** An id above those of all casts. */
export const ABOVE_ALL_CASTS = Number.MAX_SAFE_INTEGER;

/**
 * Returns a page of casts by time, newest first; equal times by hash, greatest first.
 *
 * @param read returns the ids below `below`, greatest first.
 */
export function castPage(
  db: IndexDatabase,
  { limit, after, cursor }: ListPage<readonly ["int", "hash"]>,
  read: (below: number, maxRows: number) => readonly CastRef[],
): Page<CastRef> {
  const { rows, hasMore } = newestCasts(db, { limit, after }, read);
  return {
    rows,
    cursor: hasMore ? cursorAfter(db, rows.at(-1), cursor) : null,
    cursorAfter: (row) => cursorAfter(db, row, cursor),
  };
}

/**
 * Declares a list of casts by time, newest first.
 *
 * @param open returns a function that reads the ids below `below`, greatest first; undefined for an empty list.
 */
export function castList<Query>(
  endpoint: string,
  open: (
    db: IndexDatabase,
    query: Query,
  ) => ((below: number, maxRows: number) => readonly CastRef[]) | undefined,
) {
  return listOf(timedCursor(endpoint), (db, query: Query, page) => {
    const read = open(db, query);
    return read ? castPage(db, page, read) : { rows: [], cursor: null };
  });
}

/** Returns the first casts of a list by time, newest first. */
export function newestCasts<Row extends CastRef>(
  db: IndexDatabase,
  { limit, after }: { limit: number; after: TimedKey | undefined },
  read: (below: number, maxRows: number) => readonly Row[],
): { rows: Row[]; hasMore: boolean } {
  // In its second, nothing sorts after the lowest hash.
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

export function cursorAfter(
  db: IndexDatabase,
  last: CastRef | undefined,
  cursor: TimedCursor,
): string | null {
  if (last === undefined) return null;
  db.willRead(() => [{ tree: "casts", keys: [last.id] }]);
  return cursor.encode([timestampOfCastId(last.id), hashOfCast(db, last.id) ?? "0x"]);
}

/**
 * Returns the condition that a cast is live which a live row names by this id, such as the target of a reaction. Such a cast
 * is in `casts` or in `missing_casts`. Few casts that were stored here are missing, so this reads hardly any page besides
 * the row that names the cast, while a look-up in `casts` reads a page per cast.
 *
 * @param id the column that names the cast; it may also contain the id of a URL.
 */
export const isLiveCast = (id: string) =>
  `(${id} > ${BELOW_ALL_CASTS} AND NOT EXISTS (SELECT 1 FROM missing_casts m WHERE m.id = ${id}))`;

/** A column of the sort key of a merge: an integer, or a single digit from 0 to 9. */
interface MergeKeyColumn {
  /** Name of the column in the merged rows. */
  readonly name: string;
  /** The column in the rows of a source; defaults to `name`. */
  readonly sql?: string;
  readonly kind: "int" | "digit";
}

/** Digits of an integer in the text of a key: one more than the largest safe integer has. */
const INT_DIGITS = 17;
/** Added to an integer so that its text always has that many digits; faster than `printf`. */
const INT_OFFSET = "20000000000000000";

/**
 * Returns a WITH clause that merges the rows of several sources, greatest key first, as `merged (source, …key)`.
 *
 * A recursive query with an ORDER BY is a priority queue: each step takes out the row with the greatest key and inserts the
 * next row of the same source. The work is one index look-up per source and one per merged row, provided that an index of
 * the rows has the columns of the source's condition followed by the key. The columns of a key form one text that sorts as
 * they do, so that a single index look-up finds all of them. An exhausted source has a null key, which sorts after all
 * others.
 *
 * @param sources the SQL expression of a source's id, and the tables that list the sources.
 * @param rowsOf returns the table and the condition of the rows of one source.
 * @param key the columns of the sort key.
 * @param below the placeholders of the key that all merged rows are below.
 * @param limit the placeholder of the maximum number of merged rows.
 */
export function mergeNewest(merge: {
  readonly sources: { readonly id: string; readonly from: string };
  readonly rowsOf: (sourceId: string) => string;
  readonly key: readonly MergeKeyColumn[];
  readonly below: string;
  readonly limit: string;
}): string {
  const { sources, rowsOf, key, limit } = merge;
  const columns = key.map(({ name, sql = name }) => sql);
  const next = (sourceId: string, below: string) =>
    `(SELECT ${encodeKey(key)} FROM ${rowsOf(sourceId)} AND (${columns.join(", ")}) < (${below})
      ORDER BY ${columns.map((column) => `${column} DESC`).join(", ")} LIMIT 1)`;
  const decoded = decodeKey(key, "b.key");
  return `WITH RECURSIVE below (source, key) AS (
     SELECT ${sources.id}, ${next(sources.id, merge.below)} FROM ${sources.from}
     UNION ALL
     SELECT b.source, ${next("b.source", decoded)} FROM below b WHERE b.key IS NOT NULL
     ORDER BY 2 DESC LIMIT ${limit}
   ), merged (source, ${key.map(({ name }) => name).join(", ")}) AS (
     SELECT b.source, ${decoded} FROM below b WHERE b.key IS NOT NULL
   )`;
}

/**
 * Returns a query that merges the casts of several sources, newest first, as rows of `id`. A cast of several sources appears
 * once per source. Works like `mergeNewest`, with the id as the key.
 *
 * @param sources the SQL expressions that identify a source, and the tables that list the sources.
 * @param rowsOf returns the table and the condition of the rows of one source.
 * @param idColumn the column of the cast's id in these rows; defaults to `id`.
 * @param below the placeholder of the id that all merged rows are below.
 * @param limit the placeholder of the maximum number of merged rows.
 */
export function mergeNewestCasts(merge: {
  readonly sources: { readonly key: readonly string[]; readonly from: string };
  readonly rowsOf: (...key: string[]) => string;
  readonly idColumn?: string;
  readonly below: string;
  readonly limit: string;
}): string {
  const { sources, rowsOf, idColumn = "id", limit } = merge;
  const next = (key: readonly string[], below: string) =>
    `(SELECT ${idColumn} FROM ${rowsOf(...key)} AND ${idColumn} < ${below} ORDER BY ${idColumn} DESC LIMIT 1)`;
  const names = sources.key.map((_, at) => `key${at}`);
  const columns = names.map((name) => `b.${name}`);
  return `WITH RECURSIVE below (${names.join(", ")}, id) AS (
     SELECT ${sources.key.join(", ")}, ${next(sources.key, merge.below)} FROM ${sources.from}
     UNION ALL
     SELECT ${columns.join(", ")}, ${next(columns, "b.id")} FROM below b WHERE b.id IS NOT NULL
     ORDER BY ${names.length + 1} DESC LIMIT ${limit}
   )
   SELECT id FROM below b WHERE id IS NOT NULL`;
}

/** Returns SQL that encodes a key as one text. */
function encodeKey(key: readonly MergeKeyColumn[]): string {
  return key
    .map(({ name, sql = name, kind }) => (kind === "int" ? `(${INT_OFFSET} + ${sql})` : sql))
    .join(" || ");
}

/** Returns SQL that extracts the columns of a key from its text. */
function decodeKey(key: readonly MergeKeyColumn[], text: string): string {
  let at = 1;
  const columns = key.map(({ kind }) => {
    const start = at;
    at += kind === "digit" ? 1 : INT_DIGITS;
    if (kind === "digit") return `CAST(substr(${text}, ${start}, 1) AS INTEGER)`;
    return `CAST(substr(${text}, ${start}, ${INT_DIGITS}) AS INTEGER) - ${INT_OFFSET}`;
  });
  return columns.join(", ");
}

/** Creates the cursor codec of an endpoint that lists casts newest first; equal times by hash, greatest first. */
export function timedCursor(endpoint: string) {
  return cursorCodec(endpoint, ["int", "hash"]);
}
