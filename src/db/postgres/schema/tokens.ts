import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { whole } from "./column.ts";

/**
 * Notification tokens of mini apps: a row for each user, mini app and client app (`client_fid`, 0 when the signing key names
 * none) in which the user added it. `url`, `host` and `token` are null together, after an add without notification details.
 * `host` is the URL's, in lower case and with its port. Rows of a deleted app are never read, and maintenance deletes them.
 * Times are unix seconds.
 */
export const tokens = pgTable(
  "tokens",
  {
    appId: text("app_id").notNull(),
    fid: whole("fid").notNull(),
    clientFid: whole("client_fid").notNull(),
    url: text("url"),
    host: text("host"),
    token: text("token"),
    enabled: boolean("enabled").notNull(),
    lastEvent: text("last_event").notNull(),
    createdAt: whole("created_at").notNull(),
    updatedAt: whole("updated_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.appId, t.fid, t.clientFid] }),
    // A URL and a token together can exceed the largest index row, so the rows are looked up.
    index("tokens_by_host").on(t.appId, t.host, t.fid, t.clientFid).where(sql`enabled`),
  ],
);

/** The number of rows of `tokens` by state, one row for each node slot. The sum over the slots is the number. */
export const tokenTotals = pgTable(
  "token_totals",
  {
    state: text("state").notNull(),
    slot: integer("slot").notNull(),
    count: whole("count").notNull(),
  },
  (t) => [primaryKey({ columns: [t.state, t.slot] })],
);

/**
 * The number of rows of `tokens` by client app, host (empty for rows without a token) and state, one row for each node slot.
 * The sum over the slots is the number; maintenance deletes rows whose sum is 0.
 */
export const audienceClients = pgTable(
  "audience_clients",
  {
    appId: text("app_id").notNull(),
    clientFid: whole("client_fid").notNull(),
    host: text("host").notNull(),
    state: text("state").notNull(),
    slot: integer("slot").notNull(),
    count: whole("count").notNull(),
  },
  (t) => [primaryKey({ columns: [t.appId, t.clientFid, t.host, t.state, t.slot] })],
);

/**
 * Changes of the number of an app's enabled tokens on a UTC day (`day` counts from 1970), by their kind, one row for each node
 * slot. The first row of an app is of the first day that was counted.
 */
export const audienceDays = pgTable(
  "audience_days",
  {
    appId: text("app_id").notNull(),
    day: whole("day").notNull(),
    change: text("change").notNull(),
    slot: integer("slot").notNull(),
    count: whole("count").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.appId, t.day, t.change, t.slot] }),
    index("audience_days_by_day").on(t.day),
  ],
);

/**
 * Recent changes of an app's tokens by events of a user, for the rate limit. `changed_at` has unix seconds, oldest first,
 * no more than the limit. The row is ignored from `expires_at` on.
 */
export const tokenChanges = pgTable(
  "token_changes",
  {
    appId: text("app_id").notNull(),
    fid: whole("fid").notNull(),
    changedAt: bigint("changed_at", { mode: "number" }).array().notNull(),
    expiresAt: whole("expires_at").notNull(),
    /** The last change: its repetition after a lost answer is recognised. */
    lastChange: uuid("last_change"),
  },
  (t) => [primaryKey({ columns: [t.appId, t.fid] }), index("token_changes_by_expiry").on(t.expiresAt)],
);
