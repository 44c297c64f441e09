import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Notification tokens of mini apps: a row for each user, mini app and client app (`client_fid`, 0 when the signing key names
 * none) in which the user added it. `url`, `host` and `token` are null together, after an add without notification details.
 * `host` is the URL's, in lower case and with its port. Rows of a deleted app are never read, and maintenance deletes them.
 * Times are unix seconds.
 */
export const tokens = sqliteTable(
  "tokens",
  {
    appId: text("app_id").notNull(),
    fid: integer().notNull(),
    clientFid: integer("client_fid").notNull(),
    url: text(),
    host: text(),
    token: text(),
    enabled: integer().notNull(),
    lastEvent: text("last_event").notNull(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.appId, t.fid, t.clientFid] }),
    // Covers all columns that a send reads, which would otherwise be another lookup for each token.
    index("tokens_by_host").on(t.appId, t.host, t.fid, t.clientFid, t.url, t.token).where(sql`enabled = 1`),
  ],
);

/** The number of rows of `tokens` by state, so that no query counts millions. */
export const tokenTotals = sqliteTable("token_totals", {
  state: text().primaryKey(),
  count: integer().notNull(),
});

/**
 * The number of rows of `tokens` by client app, host (empty for rows without a token) and state, so that no query counts
 * them. A number of 0 has no row.
 */
export const audienceClients = sqliteTable(
  "audience_clients",
  {
    appId: text("app_id").notNull(),
    clientFid: integer("client_fid").notNull(),
    host: text().notNull(),
    state: text().notNull(),
    count: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.appId, t.clientFid, t.host, t.state] })],
);

/**
 * Changes of the number of an app's enabled tokens on a UTC day (`day` counts from 1970), by their kind. The first row of an app
 * is of the first day that was counted.
 */
export const audienceDays = sqliteTable(
  "audience_days",
  {
    appId: text("app_id").notNull(),
    day: integer().notNull(),
    change: text().notNull(),
    count: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.appId, t.day, t.change] }), index("audience_days_by_day").on(t.day)],
);

/**
 * Recent changes of an app's tokens by events of a user, for the rate limit. `changed_at` is a JSON array of unix seconds,
 * oldest first, no longer than the limit. The row is ignored from `expires_at` on.
 */
export const tokenChanges = sqliteTable(
  "token_changes",
  {
    appId: text("app_id").notNull(),
    fid: integer().notNull(),
    changedAt: text("changed_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.appId, t.fid] }), index("token_changes_by_expiry").on(t.expiresAt)],
);
