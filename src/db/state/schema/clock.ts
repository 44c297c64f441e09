import { integer, sqliteTable } from "drizzle-orm/sqlite-core";

/** The state's clock: one row, `id` 1. Times are unix seconds. */
export const stateClock = sqliteTable("state_clock", {
  id: integer().primaryKey(),
  /** The saved time of the state's clock. */
  nowSecs: integer("now_secs").notNull(),
  /** The largest `expires_at` of a nonce that was deleted. */
  nonceFloor: integer("nonce_floor").notNull(),
});
