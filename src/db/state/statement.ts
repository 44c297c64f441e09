import { createStatementRegistry } from "../sqlite/statement-registry.ts";

/** The statements of the state database. */
export const { statement, declaredStatements } = createStatementRegistry();
