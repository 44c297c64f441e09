import { createStatementRegistry } from "../../sqlite/statement-registry.ts";

/**
 * The statements of the bulk build. They scan whole tables by design, so they are not among those that serve the node, which each
 * must run on an index.
 */
export const { statement: bulkStatement, declaredStatements: declaredBulkStatements } =
  createStatementRegistry();
