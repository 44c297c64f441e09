import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** What an operator has paused. `paused_at` is in unix seconds. */
export const switches = sqliteTable("switches", {
  name: text().primaryKey(),
  reason: text().notNull(),
  pausedBy: text("paused_by").notNull(),
  pausedAt: integer("paused_at").notNull(),
});
