import { index, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { whole } from "./column.ts";

/** Until when a user has seen the notifications of a type, in the app of an owner. Unix seconds. */
export const seenNotifications = pgTable(
  "seen_notifications",
  {
    ownerFid: whole("owner_fid").notNull(),
    fid: whole("fid").notNull(),
    type: text("type").notNull(),
    seenAt: whole("seen_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.ownerFid, t.fid, t.type] }),
    index("seen_notifications_by_time").on(t.seenAt),
  ],
);
