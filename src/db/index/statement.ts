import { createStatementRegistry } from "../sqlite/statement-registry.ts";

/** The statements of the index. */
export const { statement, declaredStatements } = createStatementRegistry();
