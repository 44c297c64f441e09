import type { StateDatabase } from "../../db/state/database.ts";

/** A violated invariant of the state. */
export interface StateFinding {
  readonly what: string;
  readonly rows: number;
}

/** The state under which a token is counted. */
const TOKEN_STATE = "CASE WHEN token IS NULL THEN 'no_token' WHEN enabled THEN 'enabled' ELSE 'disabled' END";

/** The key under which a token is counted for its app. */
const CLIENT_KEY = "app_id || ' ' || client_fid || ' ' || coalesce(host, '') || ' '";

/** Queries for totals and counters that differ from the rows that they count. */
export const COUNTED: readonly { readonly what: string; readonly rows: string }[] = [
  {
    what: "webhooks whose count of queued deliveries is not that of the deliveries",
    rows: `webhook_health h JOIN webhooks w ON w.seq = h.webhook WHERE h.queued <>
           (SELECT count(*) FROM deliveries d WHERE d.webhook = h.webhook AND d.state = 'queued')`,
  },
  {
    what: "totals of deliveries that are not those of the deliveries",
    rows: differingTotals(
      "delivery_totals",
      "SELECT state, count(*) AS count FROM deliveries GROUP BY state",
    ),
  },
  {
    what: "totals of notification tokens that are not those of the tokens",
    rows: differingTotals(
      "token_totals",
      `SELECT ${TOKEN_STATE} AS state, count(*) AS count FROM tokens GROUP BY 1`,
    ),
  },
  {
    what: "counts of notification tokens by client that are not those of the tokens",
    rows: differingTotals(
      `(SELECT ${CLIENT_KEY} || state AS state, count FROM audience_clients) a`,
      `SELECT ${CLIENT_KEY} || ${TOKEN_STATE} AS state, count(*) AS count FROM tokens GROUP BY 1`,
    ),
  },
];

/** Returns statements that recompute the rows of totals and counters. `slot` is the additional column of totals in PostgreSQL. */
export function recounts(slot: "" | "slot, "): string[] {
  const zero = slot && "0, ";
  return [
    "DELETE FROM delivery_totals",
    `INSERT INTO delivery_totals (state, ${slot}count) SELECT state, ${zero}count(*) FROM deliveries GROUP BY state`,
    "DELETE FROM token_totals",
    `INSERT INTO token_totals (state, ${slot}count) SELECT ${TOKEN_STATE}, ${zero}count(*) FROM tokens GROUP BY 1`,
    "DELETE FROM audience_clients",
    `INSERT INTO audience_clients (app_id, client_fid, host, state, ${slot}count)
     SELECT app_id, client_fid, coalesce(host, ''), ${TOKEN_STATE}, ${zero}count(*) FROM tokens GROUP BY 1, 2, 3, 4`,
    `UPDATE webhook_health AS h SET queued =
       (SELECT count(*) FROM deliveries d WHERE d.webhook = h.webhook AND d.state = 'queued')`,
  ];
}

/**
 * Statements that end claims and runs of processes that ended before the copy was made, and sessions, because owners may have ended some
 * since.
 */
export const ENDED = [
  "UPDATE deliveries SET lease_ends_at_ms = NULL, claimed_by = NULL WHERE lease_ends_at_ms IS NOT NULL",
  "UPDATE campaigns SET runner = NULL WHERE runner IS NOT NULL",
  "UPDATE queued_writes SET due_at_ms = 1, lease_ends_at_ms = NULL, claimed_by = NULL WHERE due_at_ms IS NOT NULL",
  "DELETE FROM sessions",
];

/**
 * The invariants that hold after every commit, each as a query for the rows that violate it. Expired rows and rows left
 * by a deleted app or webhook are not a violation: maintenance deletes them in small steps.
 */
const INVARIANTS: readonly { readonly what: string; readonly rows: string }[] = [
  {
    what: "secrets without an app, webhook or API key",
    rows: `secrets WHERE holder NOT IN (SELECT app_id FROM apps)
           AND holder NOT IN (SELECT webhook_id FROM webhooks)
           AND holder NOT IN (SELECT api_key_id FROM api_keys)`,
  },
  {
    what: "apps without a secret in force",
    rows: `apps WHERE NOT EXISTS (SELECT 1 FROM secrets WHERE holder = app_id AND expires_at IS NULL)`,
  },
  {
    what: "webhooks without a secret in force",
    rows: `webhooks WHERE NOT EXISTS (SELECT 1 FROM secrets WHERE holder = webhook_id AND expires_at IS NULL)`,
  },
  {
    what: "API keys without a secret in force",
    rows: `api_keys WHERE NOT EXISTS (SELECT 1 FROM secrets WHERE holder = api_key_id AND expires_at IS NULL)`,
  },
  { what: "API keys with unreadable scopes", rows: "api_keys WHERE NOT json_valid(scopes)" },
  { what: "apps with an unreadable allowlist", rows: "apps WHERE NOT json_valid(signer_fid_allowlist)" },
  { what: "webhooks with an unreadable subscription", rows: "webhooks WHERE NOT json_valid(subscription)" },
  {
    what: "webhooks without a record of their health",
    rows: "webhooks WHERE seq NOT IN (SELECT webhook FROM webhook_health)",
  },
  {
    what: "webhooks without a change that delivery workers would see",
    rows: `webhooks w WHERE NOT EXISTS
           (SELECT 1 FROM webhook_changes c WHERE c.webhook_id = w.webhook_id AND c.deleted_at IS NULL)`,
  },
  {
    what: "deliveries without their event",
    rows: "deliveries WHERE event NOT IN (SELECT seq FROM delivery_events)",
  },
  {
    what: "deliveries whose state contradicts their times",
    rows: `deliveries WHERE (state = 'queued') = (due_at_ms IS NULL) OR (state = 'queued') = (ended_at IS NOT NULL)`,
  },
  {
    what: "delivery attempts without their delivery",
    rows: "delivery_attempts WHERE delivery NOT IN (SELECT seq FROM deliveries)",
  },
  {
    what: "notification tokens that are there in part",
    rows: "tokens WHERE (url IS NULL) + (host IS NULL) + (token IS NULL) NOT IN (0, 3)",
  },
  {
    what: "campaigns under way without their audience",
    rows: "campaigns WHERE ended_at IS NULL AND seq NOT IN (SELECT campaign FROM campaign_audiences)",
  },
  {
    what: "campaigns under way without the key of their notification",
    rows: "campaigns WHERE ended_at IS NULL AND dedupe_key NOT IN (SELECT key FROM dedupe_keys)",
  },
  ...[
    "campaign_audiences",
    "campaign_counts",
    "campaign_clients",
    "campaign_failures",
    "campaign_retryable",
  ].map((table) => ({
    what: `rows of ${table} without their campaign`,
    rows: `${table} WHERE campaign NOT IN (SELECT seq FROM campaigns)`,
  })),
  {
    what: "recipients of notifications without the key of the notification",
    rows: "dedupe WHERE key NOT IN (SELECT key FROM dedupe_keys)",
  },
  ...COUNTED,
];

/**
 * Returns the violated invariants; empty if there are none. No other connection may write to the state concurrently. These queries scan
 * whole tables, so they are not declared with the statements that serve the node.
 */
export function verifyState(db: StateDatabase): StateFinding[] {
  return INVARIANTS.flatMap(({ what, rows }) => {
    const count = db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${rows}`).get()?.n ?? 0;
    return count > 0 ? [{ what, rows: count }] : [];
  });
}

/** Returns a query for states whose stored total, over all slots, differs from the counted one. A total of zero may have no row. */
function differingTotals(stored: string, counted: string): string {
  return `(SELECT state FROM (SELECT state, count FROM ${stored} UNION ALL SELECT state, -count FROM (${counted}) c) b
           GROUP BY state HAVING sum(count) <> 0) d`;
}
