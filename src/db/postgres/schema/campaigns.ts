import { sql } from "drizzle-orm";
import { boolean, index, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { bytes, sequence, whole } from "./column.ts";

/** Sent notifications. `seq` is the order of creation and names a campaign in the other tables. Times are unix seconds. */

export const campaigns = pgTable(
  "campaigns",
  {
    seq: sequence("seq"),
    campaignId: text("campaign_id").notNull().unique(),
    appId: text("app_id").notNull(),
    /** A row of `dedupe_keys`, for the app and `notification_id`. */
    dedupeKey: whole("dedupe_key").notNull(),
    notificationId: text("notification_id").notNull(),
    title: text("title").notNull(),
    body: text("body").notNull(),
    targetUrl: text("target_url").notNull(),
    status: text("status").notNull(),
    successCount: whole("success_count").notNull(),
    failureCount: whole("failure_count").notNull(),
    notAttemptedCount: whole("not_attempted_count").notNull(),
    /** Tokens of its audience before filters; null until a run has counted them. */
    audienceCount: whole("audience_count"),
    createdAt: whole("created_at").notNull(),
    startedAt: whole("started_at"),
    endedAt: whole("ended_at"),
    /** The boot of the node that runs it. */
    runner: uuid("runner"),
    /** Increases with each take-over. A write with another epoch than the row's is refused. */
    epoch: whole("epoch").notNull().default(0),
    /**
     * Transactions of the ledger in this epoch. They are not synced one by one: a crash of the server may undo the last ones of
     * a run that goes on, which this number shows.
     */
    ledgerWrites: whole("ledger_writes").notNull().default(0),
    /** How often a node started it. */
    runs: whole("runs").notNull().default(0),
    /** After a fault, no node takes it before this time. */
    notBeforeMs: whole("not_before_ms").notNull().default(0),
  },
  (t) => [
    index("campaigns_by_app").on(t.appId, t.seq),
    index("campaigns_under_way").on(t.appId, t.seq).where(sql`ended_at IS NULL`),
    index("campaigns_not_ended").on(t.seq).where(sql`ended_at IS NULL`),
    index("campaigns_by_creation").on(t.createdAt),
  ],
);

/**
 * The audience of a running campaign as JSON. It can be as large as a request, so it is stored apart from the row whose
 * counts change constantly, and is deleted when the campaign ends.
 */
export const campaignAudiences = pgTable("campaign_audiences", {
  campaign: whole("campaign").primaryKey(),
  audience: text("audience").notNull(),
});

/** Tokens of a campaign by client host and outcome: `success`, or why there was none. */
export const campaignCounts = pgTable(
  "campaign_counts",
  {
    campaign: whole("campaign").notNull(),
    host: text("host").notNull(),
    kind: text("kind").notNull(),
    reason: text("reason").notNull(),
    count: whole("count").notNull(),
  },
  (t) => [primaryKey({ columns: [t.campaign, t.host, t.kind, t.reason] })],
);

/** Tokens of a campaign by client app: attempted ones, and those that the client accepted. */
export const campaignClients = pgTable(
  "campaign_clients",
  {
    campaign: whole("campaign").notNull(),
    clientFid: whole("client_fid").notNull(),
    tokens: whole("tokens").notNull(),
    successes: whole("successes").notNull(),
  },
  (t) => [primaryKey({ columns: [t.campaign, t.clientFid] })],
);

/**
 * Tokens that a running campaign has failed for, so that it does not count them twice after a restart. A row covers one
 * client and one block of consecutive fids.
 */
export const campaignFailures = pgTable(
  "campaign_failures",
  {
    campaign: whole("campaign").notNull(),
    clientFid: whole("client_fid").notNull(),
    block: whole("block").notNull(),
    /** A `FidBlock`. */
    fids: bytes("fids").notNull(),
  },
  (t) => [primaryKey({ columns: [t.campaign, t.clientFid, t.block] })],
);

/** Fids with a token that its client reported as rate limited. */
export const campaignRetryable = pgTable(
  "campaign_retryable",
  { campaign: whole("campaign").notNull(), fid: whole("fid").notNull() },
  (t) => [primaryKey({ columns: [t.campaign, t.fid] })],
);

/** One notification of an app. The key is never reused; no row of `dedupe` outlives `expires_at`. */
export const dedupeKeys = pgTable(
  "dedupe_keys",
  {
    key: sequence("key"),
    appId: text("app_id").notNull(),
    notificationId: text("notification_id").notNull(),
    expiresAt: whole("expires_at").notNull(),
  },
  (t) => [
    uniqueIndex("dedupe_keys_by_notification").on(t.appId, t.notificationId),
    index("dedupe_keys_by_expiry").on(t.expiresAt),
  ],
);

/**
 * The recipients of a campaign's notification: sent, or in flight. A row covers one client and one block of consecutive
 * fids. From `expires_at` on, other campaigns ignore the row.
 */
export const dedupe = pgTable(
  "dedupe",
  {
    key: whole("key").notNull(),
    clientFid: whole("client_fid").notNull(),
    block: whole("block").notNull(),
    campaign: whole("campaign").notNull(),
    sent: boolean("sent").notNull(),
    /** A `FidBlock`. */
    fids: bytes("fids").notNull(),
    expiresAt: whole("expires_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.key, t.clientFid, t.block, t.campaign, t.sent] })],
);
