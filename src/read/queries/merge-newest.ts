/** A column of the sort key of a merge. */
export interface MergeKeyColumn {
  /** The column's name in the merged rows. */
  readonly name: string;
  /** The column in the rows of a source; the same as `name` by default. */
  readonly sql?: string;
  /** A non-negative integer, an integer from 0 to 9, or a blob, which must be the last column. */
  readonly kind: "int" | "digit" | "blob";
}

/** The sort key of lists of casts and reactions: time, then hash. */
export const TIME_AND_HASH: readonly MergeKeyColumn[] = [
  { name: "timestamp", kind: "int" },
  { name: "hash", kind: "blob" },
];

/** Digits of an integer in the text of a key: those of the largest safe integer. */
const INT_DIGITS = 16;
/** Added to an integer so that its text has one digit more, whatever the integer; faster than `printf`. */
const INT_OFFSET = 10 ** INT_DIGITS;

/**
 * Returns a WITH clause that merges the rows of several sources, the greatest key first, as `merged (source, …key)`.
 *
 * A recursive query with an ORDER BY is a priority queue: each step takes out the row with the greatest key and inserts
 * the next row of the same source. The work is one index lookup for each source and one for each merged row, provided
 * that an index of the rows has the columns of the source's condition followed by the key. The columns of a key form one
 * text that sorts as they do, so that a single index lookup finds all of them. A source without more rows has a null key,
 * which sorts after all others. Equal rows of two sources are merged one after the other.
 *
 * @param sources the SQL expression of a source's id, and the tables that list the sources
 * @param rowsOf returns the table and the condition of the rows of one source
 * @param key the columns of the sort key
 * @param below the placeholders of the key that all merged rows are below
 * @param limit the placeholder of the largest number of merged rows
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
 * Returns a WITH clause that merges the rows of one table over several sources by time and hash, the newest first, as
 * `below (source, timestamp, hash)`. It is `mergeNewest` for a table in which a row is found by a key of its own: joining
 * that row is faster than building and parsing the text of its sort key.
 *
 * Parameters: the sources as a JSON array, the timestamp and the hash that all rows are below, and the number of rows.
 *
 * @param sourceColumn the column that holds the source; an index begins with it and goes on with timestamp and hash
 * @param rowKey columns that identify a row
 */
export function mergeNewestRows(merge: {
  readonly table: string;
  readonly sourceColumn: string;
  readonly rowKey: readonly string[];
}): string {
  const { table, sourceColumn, rowKey } = merge;
  const next = (source: string, below: string) =>
    `CROSS JOIN ${table} r ON (${rowKey.map((column) => `r.${column}`).join(", ")}) = (
       SELECT ${rowKey.join(", ")} FROM ${table} WHERE ${sourceColumn} = ${source} AND (timestamp, hash) < (${below})
       ORDER BY timestamp DESC, hash DESC LIMIT 1)`;
  return `WITH RECURSIVE below (source, timestamp, hash) AS (
     SELECT r.${sourceColumn}, r.timestamp, r.hash FROM json_each(?1) j ${next("j.value", "?2, ?3")}
     UNION ALL
     SELECT r.${sourceColumn}, r.timestamp, r.hash FROM below b ${next("b.source", "b.timestamp, b.hash")}
     ORDER BY 2 DESC, 3 DESC LIMIT ?4
   )`;
}

/** Returns the SQL of a key as one text. */
function encodeKey(key: readonly MergeKeyColumn[]): string {
  const texts = key.map(({ name, sql = name, kind }) => {
    if (kind === "blob") return `hex(${sql})`;
    return kind === "int" ? `(${INT_OFFSET} + ${sql})` : sql;
  });
  return texts.join(" || ");
}

/** Returns the SQL of the columns of a key out of its text. */
function decodeKey(key: readonly MergeKeyColumn[], text: string): string {
  let at = 1;
  const columns = key.map(({ kind }) => {
    const start = at;
    if (kind === "blob") return `unhex(substr(${text}, ${start}))`;
    if (kind === "digit") {
      at += 1;
      return `CAST(substr(${text}, ${start}, 1) AS INTEGER)`;
    }
    at += 1 + INT_DIGITS;
    return `CAST(substr(${text}, ${start + 1}, ${INT_DIGITS}) AS INTEGER)`;
  });
  return columns.join(", ");
}
