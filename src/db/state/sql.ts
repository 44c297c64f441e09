import type { SQLQueryBindings } from "bun:sqlite";
import type { Statement } from "../sqlite/statement-registry.ts";
import { statement } from "./statement.ts";

/** A parameter. PostgreSQL takes its type from the statement, so cast a parameter whose place does not say it. */
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

const ELEMENTS = /elements\((\$\d+)\) (\w+)/g;
const LATEST = /latest\((\$\d+)\)/g;

const POSTGRES_SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [LATEST, "greatest($1::bigint, extract(epoch FROM now())::bigint)"],
  [ELEMENTS, "jsonb_array_elements_text($1::text::jsonb) AS $2(value)"],
];

const SQLITE_SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [LATEST, "max($1, coalesce((SELECT now_secs FROM state_clock WHERE id = 1), 0))"],
  [ELEMENTS, "json_each($1) AS $2"],
  [/::\w+(\[\])?/g, ""],
  // One writer holds the lock of the whole database.
  [/\s+FOR (?:NO KEY )?(?:UPDATE|SHARE)(?: OF \w+)?(?: SKIP LOCKED)?/g, ""],
  [/\bgreatest\(/g, "max("],
  [/\bleast\(/g, "min("],
  [/\$(\d+)/g, "?$1"],
];

const declared = new Map<string, { readonly sql: string }>();

/**
 * Declares a statement of the state in the SQL of PostgreSQL, with parameters `$1`, `$2` … SQLite runs a text derived from it: see
 * `SQLITE_SPELLINGS`. Where more differs, `sqlite` is its own text with `?1`, `?2` … A test explains the plan of both.
 *
 * Two terms have a spelling for each database. `latest($n)` is the later of a node's time in unix seconds and the time of the state,
 * so that no row that expired comes back when a machine's clock goes back. `elements($n) name` has a row for each element of a JSON
 * array of texts, in the column `value`.
 */
export function sql<Row, Params extends readonly SqlValue[] = []>(
  name: string,
  text: string,
  sqlite: string = spelled(text, SQLITE_SPELLINGS),
): Sql<Row, Params> {
  const statementOfSqlite = statement<Row, SQLQueryBindings[]>(name, sqlite);
  const declaration = { name, sql: spelled(text, POSTGRES_SPELLINGS) };
  declared.set(name, declaration);
  return { ...declaration, sqlite: statementOfSqlite };
}

/** The statements of all modules loaded so far, in the SQL of PostgreSQL. */
export function declaredSql(): ReadonlyMap<string, { readonly sql: string }> {
  return declared;
}

function spelled(text: string, spellings: typeof SQLITE_SPELLINGS): string {
  return spellings.reduce((sql, [found, spelling]) => sql.replace(found, spelling), text);
}
