/** A parameter. PostgreSQL takes its type from the statement, so cast a parameter whose position does not determine it. */
export type PgValue = PgScalar | readonly PgScalar[];
export type PgScalar = string | number | boolean | null | Uint8Array;

/** A SQL text with the types of its rows and parameters. Declared once, at module level. */
export interface PgStatement<Row, Params extends readonly PgValue[]> {
  readonly name: string;
  readonly sql: string;
  /** Carries the types. Never present at run time. */
  readonly types?: (params: Params) => Row;
}

const declared = new Map<string, { readonly sql: string }>();

/**
 * Declares a statement of the state in PostgreSQL under a unique name, with parameters `$1`, `$2` … A test explains the
 * query plan of each. `SELECT *` is not allowed, because a new column breaks a prepared statement inside a transaction.
 */
export function pgStatement<Row, Params extends readonly PgValue[] = []>(
  name: string,
  sql: string,
): PgStatement<Row, Params> {
  if (declared.has(name)) throw new Error(`statement ${name} is declared twice`);
  const statement: PgStatement<Row, Params> = { name, sql };
  declared.set(name, statement);
  return statement;
}

/** Returns the statements of all modules loaded so far, by name. */
export function declaredPgStatements(): ReadonlyMap<string, { readonly sql: string }> {
  return declared;
}
