import type { SQLQueryBindings } from "bun:sqlite";

/** One SQL text with the types of its row and of its parameters. Declared once, at module level. */
export interface Statement<Row, Params extends readonly SQLQueryBindings[]> {
  readonly name: string;
  readonly sql: string;
  /** Carries the types; never present at run time. */
  readonly types?: (params: Params) => Row;
}

export interface StatementRegistry {
  /**
   * Declares a statement under a unique name. Every statement of the program is declared so, which is what lets a
   * test explain the plan of each of them.
   */
  statement<Row, Params extends readonly SQLQueryBindings[] = []>(
    name: string,
    sql: string,
  ): Statement<Row, Params>;
  /** All statements that the modules loaded so far declare, by name. */
  declaredStatements(): ReadonlyMap<string, { readonly sql: string }>;
}

/** The statements of one database. */
export function createStatementRegistry(): StatementRegistry {
  const declared = new Map<string, { readonly sql: string }>();
  return {
    statement<Row, Params extends readonly SQLQueryBindings[]>(name: string, sql: string) {
      if (declared.has(name)) throw new Error(`statement ${name} is declared twice`);
      const made: Statement<Row, Params> = { name, sql };
      declared.set(name, made);
      return made;
    },
    declaredStatements: () => declared,
  };
}
