/** A column of the sort key of a merge: an integer, or an integer from 0 to 9. */
export interface MergeKeyColumn {
  /** The column's name in the merged rows. */
  readonly name: string;
  /** The column in the rows of a source; the same as `name` by default. */
  readonly sql?: string;
  readonly kind: "int" | "digit";
}

/** Digits of an integer in the text of a key: one more than those of the largest safe integer. */
const INT_DIGITS = 17;
/** Added to an integer so that its text has that many digits, whatever the integer; faster than `printf`. */
const INT_OFFSET = "20000000000000000";

/**
 * Returns a WITH clause that merges the rows of several sources, the greatest key first, as `merged (source, …key)`.
 *
 * A recursive query with an ORDER BY is a priority queue: each step takes out the row with the greatest key and inserts
 * the next row of the same source. The work is one index lookup for each source and one for each merged row, provided
 * that an index of the rows has the columns of the source's condition followed by the key. The columns of a key form one
 * text that sorts as they do, so that a single index lookup finds all of them. A source without more rows has a null key,
 * which sorts after all others.
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
 * Returns a query that merges the casts of several sources, the newest first, as rows of `id`. A cast of several sources
 * appears once for each. Works as `mergeNewest`, with the id as the key.
 *
 * @param sources the SQL expressions that identify a source, and the tables that list the sources
 * @param rowsOf returns the table and the condition of the rows of one source
 * @param idColumn the column of the cast's id in these rows; `id` by default
 * @param below the placeholder of the id that all merged rows are below
 * @param limit the placeholder of the largest number of merged rows
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

/** Returns the SQL of a key as one text. */
function encodeKey(key: readonly MergeKeyColumn[]): string {
  return key
    .map(({ name, sql = name, kind }) => (kind === "int" ? `(${INT_OFFSET} + ${sql})` : sql))
    .join(" || ");
}

/** Returns the SQL of the columns of a key out of its text. */
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
