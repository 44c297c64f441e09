import { blob, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Keys that a custody address has let sign requests of its fid for a while. Times are unix seconds. */
export const sessions = sqliteTable(
  "sessions",
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    sessionId: text("session_id").notNull().unique(),
    ownerFid: integer("owner_fid").notNull(),
    publicKey: blob("public_key", { mode: "buffer" }).notNull(),
    /** The owner's custody address when the session was created. */
    custody: blob({ mode: "buffer" }).notNull(),
    access: text().notNull(),
    label: text().notNull(),
    origin: text().notNull(),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
    lastUsedAt: integer("last_used_at"),
  },
  (t) => [index("sessions_by_owner").on(t.ownerFid, t.seq), index("sessions_by_expiry").on(t.expiresAt)],
);
