import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Until when a user has seen the notifications of a type, in the app of an owner. Unix seconds. */
export const seenNotifications = sqliteTable(
  "seen_notifications",
  {
    ownerFid: integer("owner_fid").notNull(),
    fid: integer().notNull(),
    type: text().notNull(),
    seenAt: integer("seen_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.ownerFid, t.fid, t.type] }),
    index("seen_notifications_by_time").on(t.seenAt),
  ],
);
