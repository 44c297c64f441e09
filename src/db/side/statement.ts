import { createStatementRegistry } from "../sqlite/statement-registry.ts";

/** The statements of side files. */
export const { statement, declaredStatements } = createStatementRegistry();
