import { sql } from "drizzle-orm";
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/** Sent notifications. `seq` is the order of creation and names a campaign in the other tables. Times are unix seconds. */

export const campaigns = sqliteTable(
  "campaigns",
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    campaignId: text("campaign_id").notNull().unique(),
    appId: text("app_id").notNull(),
    /** A row of `dedupe_keys`, for the app and `notification_id`. */
    dedupeKey: integer("dedupe_key").notNull(),
    notificationId: text("notification_id").notNull(),
    title: text().notNull(),
    body: text().notNull(),
    targetUrl: text("target_url").notNull(),
    status: text().notNull(),
    successCount: integer("success_count").notNull(),
    failureCount: integer("failure_count").notNull(),
    notAttemptedCount: integer("not_attempted_count").notNull(),
    /** Tokens of its audience before filters; null until a run has counted them. */
    audienceCount: integer("audience_count"),
    createdAt: integer("created_at").notNull(),
    startedAt: integer("started_at"),
    endedAt: integer("ended_at"),
    /** The boot of the node that runs it; null when any node may take it. */
    runner: text(),
    /** Raised by each run; a former run can write nothing. */
    epoch: integer().notNull().default(0),
    /** Runs, including the current one. */
    runs: integer().notNull().default(0),
    /** No run starts before this time, unix ms. */
    notBeforeMs: integer("not_before_ms").notNull().default(0),
  },
  (t) => [
    index("campaigns_by_app").on(t.appId, t.seq),
    index("campaigns_under_way").on(t.appId, t.seq).where(sql`ended_at IS NULL`),
    index("campaigns_unfinished").on(t.seq).where(sql`ended_at IS NULL`),
    index("campaigns_by_creation").on(t.createdAt),
  ],
);

/**
 * The audience of a running campaign as JSON. It can be as large as a request, so it is stored apart from the row whose
 * counts change constantly, and is deleted when the campaign ends.
 */
export const campaignAudiences = sqliteTable("campaign_audiences", {
  campaign: integer().primaryKey(),
  audience: text().notNull(),
});

/** Tokens of a campaign by client host and outcome: `success`, or why there was none. */
export const campaignCounts = sqliteTable(
  "campaign_counts",
  {
    campaign: integer().notNull(),
    host: text().notNull(),
    kind: text().notNull(),
    reason: text().notNull(),
    count: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.campaign, t.host, t.kind, t.reason] })],
);

/** Tokens of a campaign by client app: attempted ones, and those that the client accepted. */
export const campaignClients = sqliteTable(
  "campaign_clients",
  {
    campaign: integer().notNull(),
    clientFid: integer("client_fid").notNull(),
    tokens: integer().notNull(),
    successes: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.campaign, t.clientFid] })],
);

/**
 * Tokens that a running campaign has failed for, so that it does not count them twice after a restart. A row covers one
 * client and one block of consecutive fids.
 */
export const campaignFailures = sqliteTable(
  "campaign_failures",
  {
    campaign: integer().notNull(),
    clientFid: integer("client_fid").notNull(),
    block: integer().notNull(),
    /** A `FidBlock`. */
    fids: blob({ mode: "buffer" }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.campaign, t.clientFid, t.block] })],
);

/** Fids with a token that its client reported as rate limited. */
export const campaignRetryable = sqliteTable(
  "campaign_retryable",
  { campaign: integer().notNull(), fid: integer().notNull() },
  (t) => [primaryKey({ columns: [t.campaign, t.fid] })],
);

/** One notification of an app. The key is never reused; no row of `dedupe` outlives `expires_at`. */
export const dedupeKeys = sqliteTable(
  "dedupe_keys",
  {
    key: integer().primaryKey({ autoIncrement: true }),
    appId: text("app_id").notNull(),
    notificationId: text("notification_id").notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (t) => [
    uniqueIndex("dedupe_keys_by_notification").on(t.appId, t.notificationId),
    index("dedupe_keys_by_expiry").on(t.expiresAt),
  ],
);

/**
 * The recipients of a campaign's notification: sent (`sent` = 1) or in flight (0). A row covers one client and one block of
 * consecutive fids. From `expires_at` on, other campaigns ignore the row.
 */
export const dedupe = sqliteTable(
  "dedupe",
  {
    key: integer().notNull(),
    clientFid: integer("client_fid").notNull(),
    block: integer().notNull(),
    campaign: integer().notNull(),
    sent: integer().notNull(),
    /** A `FidBlock`. */
    fids: blob({ mode: "buffer" }).notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.key, t.clientFid, t.block, t.campaign, t.sent] })],
);
