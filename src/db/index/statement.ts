import { createStatementRegistry } from "../sqlite/statement-registry.ts";

export const { statement, declaredStatements } = createStatementRegistry();
