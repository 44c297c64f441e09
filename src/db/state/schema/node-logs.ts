import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The logs of the index of each node, so that an index that was deleted or replaced by a copy is noticed. */
export const nodeLogs = sqliteTable("node_logs", {
  nodeId: text("node_id").primaryKey(),
  /** Changes with each other index. */
  logId: text("log_id").notNull(),
  /** All heights of hub event blocks below this one may be in use. */
  reservedHeight: integer("reserved_height").notNull(),
});
