import type { SQLQueryBindings } from "bun:sqlite";
import { createStatementRegistry, type Statement } from "../sqlite/statement-registry.ts";

export const { statement, declaredStatements } = createStatementRegistry();

/** A parameter. PostgreSQL takes its type from the statement, so cast a parameter whose position does not determine it. */
export type SqlValue = SqlScalar | readonly SqlScalar[];
export type SqlScalar = string | number | boolean | null | Uint8Array;

/** A statement of the state for both databases, with the types of its rows and parameters. Declared once, at module level. */
export interface Sql<Row, Params extends readonly SqlValue[]> {
  readonly name: string;
  /** For PostgreSQL. */
  readonly sql: string;
  readonly sqlite: Statement<Row, SQLQueryBindings[]>;
  /** Carries the types. Never present at run time. */
  readonly types?: (params: Params) => Row;
}

/** A statement that runs for each of several rows. PostgreSQL gets all of them at once. */
export interface SqlEach<Row, Columns extends readonly SqlScalar[], Params extends readonly SqlScalar[]> {
  readonly name: string;
  /** For PostgreSQL. Its first parameter is the JSON of the rows. */
  readonly sql: string;
  /** For one row, whose columns follow the other parameters. */
  readonly sqlite: Statement<Row, SQLQueryBindings[]>;
  /** For several rows, whose JSON is the first parameter. Without it, they are run one by one. */
  readonly sqliteRows: Statement<Row, SQLQueryBindings[]> | undefined;
  /** Carries the types. Never present at run time. */
  readonly eachTypes?: (columns: Columns, params: Params) => Row;
}

const ELEMENTS = /elements\((\$\d+)\) (\w+)/g;
const ROWS = /rows\(\$1\) t/g;
const COLUMN = /\(t\.value ->> (\d+)\)|t\.value ->> (\d+)/g;
const ANY_OF_ROWS = /= ANY \(ARRAY\(([\s\S]*?)\)::\w+\[\]\)/g;
const ANY = /= ANY \((\$\d+)::\w+\[\]\)/g;
const LATEST = /latest\((\$\d+)\)/g;
/** A batch of locked rows, with parentheses nested up to three deep. */
const LOCKED_BATCH =
  /\bIN\s*\(\s*(SELECT\b(?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*?SKIP LOCKED)\s*\)/g;

const POSTGRES_SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [LATEST, "greatest($1::bigint, extract(epoch FROM now())::bigint)"],
  [ELEMENTS, "jsonb_array_elements_text($1::text::jsonb) AS $2(value)"],
  [ROWS, "jsonb_array_elements($$1::text::jsonb) AS t(value)"],
  // A plan may run a subquery again and skip rows locked and changed by then, which would return the next rows, beyond its
  // limit.
  [LOCKED_BATCH, "IN (WITH batch AS MATERIALIZED ($1) SELECT * FROM batch)"],
];

const SQLITE_SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [LATEST, "max($1, coalesce((SELECT now_secs FROM state_clock WHERE id = 1), 0))"],
  [ELEMENTS, "json_each($1) AS $2"],
  [ROWS, "json_each($$1) AS t"],
  [ANY_OF_ROWS, "IN ($1)"],
  [ANY, "IN (SELECT value FROM json_each($1))"],
  [/::\w+(\[\])?/g, ""],
  [/\bdecode\(([^,]+), 'hex'\)/g, "unhex($1)"],
  // SQLite's single writer locks the whole database.
  [/\s+FOR (?:(?:NO )?KEY )?(?:UPDATE|SHARE)(?: OF \w+)?(?: SKIP LOCKED)?/g, ""],
  // The order in which rows are locked.
  [/ ORDER BY [^\n]*? COLLATE "C"/g, ""],
  [/\bgreatest\(/g, "max("],
  [/\bleast\(/g, "min("],
  [/\$(\d+)/g, "?$1"],
];

const declared = new Map<string, { readonly sql: string }>();

/**
 * Declares a statement of the state in PostgreSQL's SQL, with parameters `$1`, `$2` … SQLite runs a text derived from it
 * (see `SQLITE_SPELLINGS`). Where more differs, `sqlite` is a separate text with `?1`, `?2` … A test explains the plan of
 * both.
 *
 * Some terms are spelled differently for each database. `latest($n)` is the later of a node's time in Unix seconds and the
 * time of the state, so that no expired row returns when a machine's clock goes back. `elements($n) name` has a row for each
 * element of a JSON array of texts, in the column `value`. A condition on a list is `= ANY ($n::type[])`, whose parameter is
 * an array, or `= ANY (ARRAY(SELECT …)::type[])`, which may depend on the row.
 */
export function sql<Row, Params extends readonly SqlValue[] = []>(
  name: string,
  text: string,
  sqlite: string = sqliteSpelling(text),
): Sql<Row, Params> {
  const statementOfSqlite = statement<Row, SQLQueryBindings[]>(name, sqlite);
  const declaration = { name, sql: spelled(text, POSTGRES_SPELLINGS) };
  declared.set(name, declaration);
  return { ...declaration, sqlite: statementOfSqlite };
}

/**
 * Declares a statement that runs for each row of a list. In PostgreSQL it reads them `FROM rows($1) t` or
 * `FROM …, rows($1) t`, with the columns `t.value ->> 0` and so on, which are texts; parameters from `$2` are shared by all
 * rows. SQLite does the same, except that a single row has bound columns, which costs half.
 *
 * @param sqlite separate texts for SQLite. `row` has the shared parameters first, then the columns; without `rows`, it runs
 * row by row.
 */
export function sqlEach<Row, Columns extends readonly SqlScalar[], Params extends readonly SqlScalar[] = []>(
  name: string,
  text: string,
  sqlite: { readonly row: string; readonly rows?: string } = { row: rowSpelling(text), rows: text },
): SqlEach<Row, Columns, Params> {
  const rows = sqlite.rows === undefined ? undefined : sqliteSpelling(sqlite.rows);
  return {
    ...sql<Row, never>(name, text, sqlite.row),
    sqliteRows: rows === undefined ? undefined : statement(`${name} of rows`, rows),
  };
}

/** Returns SQLite's spelling of a statement that runs for each row, from which to derive a separate text. */
export function rowSpelling(text: string): string {
  const shared = Math.max(...[...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n))) - 1;
  const ofRow = text
    .replace(/(?:,|\s+FROM) rows\(\$1\) t/, "")
    .replace(COLUMN, (_, inBrackets, bare) => `?${shared + 1 + Number(inBrackets ?? bare)}`)
    .replace(/\$(\d+)/g, (_, n) => `?${Number(n) - 1}`);
  return sqliteSpelling(ofRow);
}

/**
 * Returns rows as a JSON array of arrays. PostgreSQL refuses NUL and lone surrogates in text; stored text has U+FFFD in
 * their place.
 */
export function jsonRows(rows: readonly (readonly SqlScalar[])[]): string {
  return JSON.stringify(
    rows.map((row) =>
      row.map((value) =>
        typeof value === "string" ? value.replaceAll("\0", "\uFFFD").toWellFormed() : value,
      ),
    ),
  );
}

/** Returns SQLite's spelling of a PostgreSQL statement, from which to derive a separate text. */
export function sqliteSpelling(text: string): string {
  return spelled(text, SQLITE_SPELLINGS);
}

/** Returns the statements of all modules loaded so far, in PostgreSQL's SQL. */
export function declaredSql(): ReadonlyMap<string, { readonly sql: string }> {
  return declared;
}

function spelled(text: string, spellings: typeof SQLITE_SPELLINGS): string {
  return spellings.reduce((sql, [found, spelling]) => sql.replace(found, spelling), text);
}
