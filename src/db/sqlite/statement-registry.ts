import type { SQLQueryBindings } from "bun:sqlite";

/** A SQL text with the types of its rows and parameters. Declared once, at module level. */
export interface Statement<Row, Params extends readonly SQLQueryBindings[]> {
  readonly name: string;
  readonly sql: string;
  /** Carries the types. Never present at run time. */
  readonly types?: (params: Params) => Row;
}

export interface StatementRegistry {
  /**
   * Declares a statement under a unique name. All statements of the program are declared this way, so that a test can
   * explain the query plan of each.
   */
  statement<Row, Params extends readonly SQLQueryBindings[] = []>(
    name: string,
    sql: string,
  ): Statement<Row, Params>;
  /** Returns the statements of all modules loaded so far, by name. */
  declaredStatements(): ReadonlyMap<string, { readonly sql: string }>;
}

/** Creates the registry of the statements of one database. */
export function createStatementRegistry(): StatementRegistry {
  const declared = new Map<string, { readonly sql: string }>();
  return {
    statement<Row, Params extends readonly SQLQueryBindings[]>(name: string, sql: string) {
      if (declared.has(name)) throw new Error(`statement ${name} is declared twice`);
      const statement: Statement<Row, Params> = { name, sql: withFixedPlan(sql) };
      declared.set(name, statement);
      return statement;
    },
    declaredStatements: () => declared,
  };
}

/** A parameter, or a quoted text, which may contain question marks. */
const PARAMETER_OR_QUOTED = /\?\d*|'[^']*'|"[^"]*"/g;

/**
 * Returns the SQL with a unary plus before each parameter. Otherwise SQLite compiles a statement again at each execution if
 * its plan might depend on the value of a parameter: where a column of a sorted or grouped query equals it, or where it is a
 * LIMIT. That takes 2 to 15 µs, more than most look-ups. The plus does not change the value. Plans must not depend on values
 * anyway, since a test explains them without any.
 */
export function withFixedPlan(sql: string): string {
  return sql.replace(PARAMETER_OR_QUOTED, (part) => (part.startsWith("?") ? `+${part}` : part));
}
