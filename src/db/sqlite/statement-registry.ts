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
   * Declares a statement under a unique name. All statements of the program are declared here, so that a test can explain
   * the query plan of each.
   */
  statement<Row, Params extends readonly SQLQueryBindings[] = []>(
    name: string,
    sql: string,
  ): Statement<Row, Params>;
  /** The statements of all modules loaded so far, by name. */
  declaredStatements(): ReadonlyMap<string, { readonly sql: string }>;
}

/** Creates the registry of the statements of one database. */
export function createStatementRegistry(): StatementRegistry {
  const declared = new Map<string, { readonly sql: string }>();
  return {
    statement<Row, Params extends readonly SQLQueryBindings[]>(name: string, sql: string) {
      if (declared.has(name)) throw new Error(`statement ${name} is declared twice`);
      const statement: Statement<Row, Params> = { name, sql };
      declared.set(name, statement);
      return statement;
    },
    declaredStatements: () => declared,
  };
}
