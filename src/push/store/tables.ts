import {
  bytes,
  flag,
  index,
  key,
  nullable,
  postgresOnly,
  sequence,
  table,
  text,
  unique,
  uuid,
  whole,
  wholes,
  withDefault,
} from "../../db/state/table.ts";
import type { CampaignStatus, OutcomeKind } from "./campaigns/campaign-store.ts";
import type { AudienceChange, TokenOrigin, TokenState } from "./tokens/token-store.ts";

/** Sent notifications. `seq` is the order of creation and names a campaign in the other tables. Times are unix seconds. */

export const campaigns = table(
  "campaigns",
  {
    seq: sequence(),
    campaign_id: unique(text()),
    app_id: text(),
    /** A row of `dedupe_keys`, for the app and `notification_id`. */
    dedupe_key: whole(),
    notification_id: text(),
    title: text(),
    body: text(),
    target_url: text(),
    status: text<CampaignStatus>(),
    success_count: whole(),
    failure_count: whole(),
    not_attempted_count: whole(),
    /** Tokens of its audience before filters; null until a run has counted them. */
    audience_count: nullable(whole()),
    created_at: whole(),
    started_at: nullable(whole()),
    ended_at: nullable(whole()),
    /** The `seq` of the schedule that it belongs to; null for a send without one. */
    schedule: nullable(whole()),
    /** The boot of the node that runs it; null if any node may take it. */
    runner: nullable(uuid()),
    /** Incremented by each run; earlier runs cannot write any more. */
    epoch: withDefault(whole(), 0),
    /** Runs, including the current one. */
    runs: withDefault(whole(), 0),
    /** No run starts before this time, unix ms. */
    not_before_ms: withDefault(whole(), 0),
    /**
     * Number of ledger transactions in this epoch. They are not synced one by one: a crash of PostgreSQL may undo the last ones of a run
     * that continues, which this number reveals.
     */
    ledger_writes: withDefault(whole(), 0),
  },
  {
    indexes: [
      index("campaigns_by_app", ["app_id", "seq"]),
      index("campaigns_under_way", ["app_id", "seq"], { where: "ended_at IS NULL" }),
      index("campaigns_unfinished", ["seq"], { where: "ended_at IS NULL" }),
      index("campaigns_by_creation", ["created_at"]),
      index("campaigns_of_schedule", ["schedule", "seq"], { where: "schedule IS NOT NULL" }),
    ],
    cleared: ["runner"],
  },
);

/**
 * The audience of a running campaign as JSON; for a campaign of a schedule, its share of the schedule's audience. It can be as large as a
 * request, so it is stored separately from the row whose counts change constantly, and is deleted when the campaign ends.
 */
export const campaignAudiences = table("campaign_audiences", {
  campaign: key(whole()),
  audience: text(),
});

/** Tokens of a campaign by client host and outcome: `success`, or the reason of the failure. */
export const campaignCounts = table(
  "campaign_counts",
  {
    campaign: whole(),
    host: text(),
    kind: text<OutcomeKind>(),
    reason: text(),
    count: whole(),
  },
  {
    key: ["campaign", "host", "kind", "reason"],
  },
);

/** Tokens of a campaign by client app: attempted ones, and those that the client accepted. */
export const campaignClients = table(
  "campaign_clients",
  {
    campaign: whole(),
    client_fid: whole(),
    tokens: whole(),
    successes: whole(),
  },
  {
    key: ["campaign", "client_fid"],
  },
);

/**
 * Tokens for which a running campaign has failed, so that it does not count them twice after a restart. A row covers one client and one
 * block of consecutive fids.
 */
export const campaignFailures = table(
  "campaign_failures",
  {
    campaign: whole(),
    client_fid: whole(),
    block: whole(),
    /** A `FidBlock`. */
    fids: bytes(),
  },
  {
    key: ["campaign", "client_fid", "block"],
  },
);

/** Fids with a token that its client reported as rate limited. */
export const campaignRetryable = table(
  "campaign_retryable",
  {
    campaign: whole(),
    fid: whole(),
  },
  {
    key: ["campaign", "fid"],
  },
);

/** One notification of an app. The key is never reused; no row of `dedupe` outlives `expires_at`. */
export const dedupeKeys = table(
  "dedupe_keys",
  {
    key: sequence(),
    app_id: text(),
    notification_id: text(),
    expires_at: whole(),
  },
  {
    indexes: [
      index("dedupe_keys_by_notification", ["app_id", "notification_id"], { isUnique: true }),
      index("dedupe_keys_by_expiry", ["expires_at"]),
    ],
  },
);

/**
 * The recipients of a campaign's notification: sent (`sent` = 1) or in flight (0). A row covers one client and one block of consecutive
 * fids. From `expires_at` on, other campaigns ignore the row.
 */
export const dedupe = table(
  "dedupe",
  {
    key: whole(),
    client_fid: whole(),
    block: whole(),
    campaign: whole(),
    sent: flag(),
    /** A `FidBlock`. */
    fids: bytes(),
    expires_at: whole(),
  },
  {
    key: ["key", "client_fid", "block", "campaign", "sent"],
  },
);

/**
 * Notification tokens of mini apps: a row for each user, mini app and client app (`client_fid`, 0 if the signing key has none) in which
 * the user added it. `url`, `host` and `token` are null together, after an add without notification details. `host` is the URL's, in
 * lowercase and with its port. Rows of a deleted app are never read, and maintenance deletes them. Times are unix seconds.
 */
export const tokens = table(
  "tokens",
  {
    app_id: text(),
    fid: whole(),
    client_fid: whole(),
    url: nullable(text()),
    host: nullable(text()),
    token: nullable(text()),
    enabled: flag(),
    last_event: text<TokenOrigin>(),
    created_at: whole(),
    updated_at: whole(),
  },
  {
    key: ["app_id", "fid", "client_fid"],
    // A URL and a token together can exceed the largest index row of PostgreSQL. In SQLite the index covers what a send reads.
    indexes: [
      index("tokens_by_host", ["app_id", "host", "fid", "client_fid"], {
        where: "enabled",
        sqlite: { columns: ["app_id", "host", "fid", "client_fid", "url", "token"] },
      }),
    ],
  },
);

/** The number of rows of `tokens` by state, so that no query has to count millions. */
export const tokenTotals = table(
  "token_totals",
  {
    state: key(text<TokenState>()),
    count: whole(),
  },
  {
    summed: "count",
  },
);

/**
 * The number of rows of `tokens` by client app, host (empty for rows without a token) and state, so that no query has to count them.
 * Maintenance deletes rows whose sum is 0.
 */
export const audienceClients = table(
  "audience_clients",
  {
    app_id: text(),
    client_fid: whole(),
    host: text(),
    state: text<TokenState>(),
    count: whole(),
  },
  {
    key: ["app_id", "client_fid", "host", "state"],
    summed: "count",
  },
);

/**
 * Changes of the number of an app's enabled tokens on a UTC day (`day` counts from 1970), by kind. The first row of an app is for the
 * first day that was counted.
 */
export const audienceDays = table(
  "audience_days",
  {
    app_id: text(),
    day: whole(),
    change: text<AudienceChange>(),
    count: whole(),
  },
  {
    key: ["app_id", "day", "change"],
    indexes: [index("audience_days_by_day", ["day"])],
    summed: "count",
  },
);

/**
 * The tokens of an app that were added in a week (`week` counts Mondays from the last one before 1970), and how many of them are left: the
 * change of the number of enabled ones in the `age`th week after it; with age -1, the number added.
 */
export const audienceCohorts = table(
  "audience_cohorts",
  {
    app_id: text(),
    week: whole(),
    age: whole(),
    count: whole(),
  },
  {
    key: ["app_id", "week", "age"],
    indexes: [index("audience_cohorts_by_week", ["week"])],
    summed: "count",
  },
);

/**
 * Recent changes of an app's tokens by events of a user, for the rate limit. `changed_at` is a JSON array of unix seconds,
 * oldest first, no longer than the limit. The row is ignored from `expires_at` on.
 */
export const tokenChanges = table(
  "token_changes",
  {
    app_id: text(),
    fid: whole(),
    changed_at: wholes(),
    expires_at: whole(),
    last_change: postgresOnly(nullable(uuid()), null),
  },
  {
    key: ["app_id", "fid"],
    indexes: [index("token_changes_by_expiry", ["expires_at"])],
  },
);
