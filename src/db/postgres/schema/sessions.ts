import { index, pgTable, text } from "drizzle-orm/pg-core";
import { bytes, sequence, whole } from "./column.ts";

/** Keys that a custody address has let sign requests of its fid for a while. Times are unix seconds. */
export const sessions = pgTable(
  "sessions",
  {
    seq: sequence("seq"),
    sessionId: text("session_id").notNull().unique(),
    ownerFid: whole("owner_fid").notNull(),
    publicKey: bytes("public_key").notNull(),
    /** The owner's custody address when the session was created. */
    custody: bytes("custody").notNull(),
    access: text("access").notNull(),
    label: text("label").notNull(),
    origin: text("origin").notNull(),
    createdAt: whole("created_at").notNull(),
    expiresAt: whole("expires_at").notNull(),
    lastUsedAt: whole("last_used_at"),
  },
  (t) => [index("sessions_by_owner").on(t.ownerFid, t.seq), index("sessions_by_expiry").on(t.expiresAt)],
);
