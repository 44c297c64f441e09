import { integer, sqliteTable } from "drizzle-orm/sqlite-core";

/** What the state knows of time: one row, `id` 1. Times are unix seconds. */
export const stateClock = sqliteTable("state_clock", {
  id: integer().primaryKey(),
  /** The state's clock when it was last saved. */
  nowSecs: integer("now_secs").notNull(),
  /** The largest `expires_at` of a nonce that was deleted. */
  nonceFloor: integer("nonce_floor").notNull(),
});
