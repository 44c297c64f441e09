import { createStatementRegistry } from "../../sqlite/statement-registry.ts";

/**
 * The statements of the bulk build. They scan whole tables by design, so they are not among those that serve the node, which each
 * must run on an index.
 *
 * A look-up of many rows is a merge: the rows are sorted by the key of the other table, then each look-up is next to the one before it.
 * The sorted rows are a subquery with GROUP BY, which SQLite sorts in runs and neither reorders nor flattens. It drops an ORDER BY
 * there, or with a LIMIT sorts by inserting into a temporary tree. `+rowid` makes the groups single rows.
 */
export const { statement: bulkStatement } = createStatementRegistry();
