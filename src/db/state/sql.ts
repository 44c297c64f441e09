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

const declared = new Map<string, { readonly sql: string }>();

/**
 * Declares a statement of the state in the SQL of PostgreSQL, with parameters `$1`, `$2` … SQLite runs a text derived from it: see
 * `SQLITE_SPELLINGS`. Where more differs, `sqlite` is its own text with `?1`, `?2` … A test explains the plan of both.
 *
 * `latest($n)` is the later of a node's time in unix seconds and the time of the state, so that no row that expired comes back when
 * a machine's clock goes back.
 */
export function sql<Row, Params extends readonly SqlValue[] = []>(
  name: string,
  text: string,
  sqlite: string = inSqlite(text),
): Sql<Row, Params> {
  const statementOfSqlite = statement<Row, SQLQueryBindings[]>(name, sqlite);
  const declaration = {
    name,
    sql: text.replace(LATEST, "greatest($1::bigint, extract(epoch FROM now())::bigint)"),
  };
  declared.set(name, declaration);
  return { ...declaration, sqlite: statementOfSqlite };
}

/** The statements of all modules loaded so far, in the SQL of PostgreSQL. */
export function declaredSql(): ReadonlyMap<string, { readonly sql: string }> {
  return declared;
}

const LATEST = /latest\((\$\d+)\)/g;

const SQLITE_SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [LATEST, "max($1, coalesce((SELECT now_secs FROM state_clock WHERE id = 1), 0))"],
  [/::\w+(\[\])?/g, ""],
  // One writer holds the lock of the whole database.
  [/\s+FOR (?:NO KEY )?(?:UPDATE|SHARE)(?: OF \w+)?(?: SKIP LOCKED)?/g, ""],
  [/\bgreatest\(/g, "max("],
  [/\bleast\(/g, "min("],
  [/\$(\d+)/g, "?$1"],
];

function inSqlite(text: string): string {
  return SQLITE_SPELLINGS.reduce((sql, [found, spelling]) => sql.replace(found, spelling), text);
}
