import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Where the state was moved to: a row, `id` 1, once it is not to be used any more. */
export const stateMove = sqliteTable("state_move", {
  id: integer().primaryKey(),
  /** For people: `PostgreSQL at host:port/database`. */
  destination: text().notNull(),
  /** Unix seconds. */
  movedAt: integer("moved_at").notNull(),
});
