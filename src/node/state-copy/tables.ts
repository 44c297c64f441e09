/**
 * The columns of the state as `svc state copy` moves them. Both databases have the same tables; where they differ, the
 * difference is stated here. A test compares the list with both schemas, so that a new table or column needs a decision.
 */

/** The form of a column: SQLite stores a flag as 0 or 1, and a list of numbers as JSON. */
export type ColumnForm = "number" | "text" | "flag" | "bytes" | "numbers";

export interface CopiedColumn {
  readonly name: string;
  readonly form: ColumnForm;
}

export interface CopiedTable {
  readonly name: string;
  readonly columns: readonly CopiedColumn[];
  /** The order in which rows are compared. */
  readonly key: readonly string[];
  /** The column of its own numbers, which are never used again. */
  readonly sequence?: string;
  /** Columns that become null: claims and runs of processes that have ended. */
  readonly cleared?: readonly string[];
  /** Rows by node slot in PostgreSQL, one row in SQLite: the column whose sum it has. */
  readonly summed?: string;
  /** Columns of PostgreSQL alone, with the value of a copied row. */
  readonly added?: Readonly<Record<string, string | null>>;
}

const number = (name: string): CopiedColumn => ({ name, form: "number" });
const text = (name: string): CopiedColumn => ({ name, form: "text" });
const flag = (name: string): CopiedColumn => ({ name, form: "flag" });
const bytes = (name: string): CopiedColumn => ({ name, form: "bytes" });
const numbers = (name: string): CopiedColumn => ({ name, form: "numbers" });

/** The spender of a nonce that a single node has spent: it asks no second time. */
const NO_SPENDER = "00000000-0000-0000-0000-000000000000";

export const COPIED_STATE: readonly CopiedTable[] = [
  {
    name: "nonces",
    key: ["fid", "nonce"],
    columns: [number("fid"), bytes("nonce"), number("expires_at")],
    added: { spender: NO_SPENDER },
  },
  {
    name: "apps",
    key: ["seq"],
    sequence: "seq",
    columns: [
      number("seq"),
      text("app_id"),
      number("owner_fid"),
      text("name"),
      text("app_url"),
      text("description"),
      text("signer_fid_allowlist"),
      number("created_at"),
      number("updated_at"),
    ],
  },
  {
    name: "api_keys",
    key: ["seq"],
    sequence: "seq",
    columns: [
      number("seq"),
      text("api_key_id"),
      number("owner_fid"),
      text("name"),
      text("prefix"),
      text("scopes"),
      text("app_id"),
      flag("active"),
      bytes("custody"),
      number("units_per_minute"),
      number("writes_per_minute"),
      number("created_at"),
      number("updated_at"),
      number("expires_at"),
      number("last_used_at"),
    ],
  },
  {
    name: "api_key_usage",
    key: ["api_key_id", "day", "route"],
    columns: [
      text("api_key_id"),
      number("day"),
      text("route"),
      number("requests"),
      number("units"),
      number("writes"),
      number("errors"),
      number("limited"),
    ],
  },
  { name: "rate_buckets", key: ["name"], columns: [text("name"), number("full_at_ms")] },
  {
    name: "webhooks",
    key: ["seq"],
    sequence: "seq",
    columns: [
      number("seq"),
      text("webhook_id"),
      number("owner_fid"),
      text("title"),
      text("target_url"),
      text("description"),
      flag("active"),
      text("subscription"),
      text("compat_prefix"),
      number("created_at"),
      number("updated_at"),
    ],
  },
  {
    name: "secrets",
    key: ["seq"],
    sequence: "seq",
    columns: [
      number("seq"),
      text("holder"),
      text("uid"),
      text("value"),
      bytes("digest"),
      number("created_at"),
      number("expires_at"),
    ],
  },
  {
    name: "webhook_changes",
    key: ["version"],
    sequence: "version",
    columns: [number("version"), text("webhook_id"), number("deleted_at")],
  },
  {
    name: "webhook_health",
    key: ["webhook"],
    columns: [
      number("webhook"),
      number("queued"),
      number("last_success_at"),
      number("last_failure_at"),
      number("consecutive_failures"),
      number("failing_since"),
      number("dropped"),
      number("deactivated_at"),
      text("deactivation_reason"),
      number("behind_since_ms"),
      number("held_until_ms"),
    ],
  },
  {
    name: "delivery_events",
    key: ["seq"],
    sequence: "seq",
    columns: [
      number("seq"),
      text("event_id"),
      text("kind"),
      text("body"),
      flag("is_test"),
      number("created_at"),
    ],
  },
  {
    name: "deliveries",
    key: ["seq"],
    sequence: "seq",
    // A leased delivery is due at the end of its lease.
    cleared: ["lease_ends_at_ms", "claimed_by"],
    columns: [
      number("seq"),
      text("message_id"),
      number("event"),
      number("webhook"),
      text("state"),
      number("attempts"),
      number("created_at"),
      number("due_at_ms"),
      number("lease_ends_at_ms"),
      text("claimed_by"),
      number("ended_at"),
    ],
  },
  {
    name: "delivery_attempts",
    key: ["seq"],
    sequence: "seq",
    columns: [
      number("seq"),
      number("delivery"),
      number("at_ms"),
      number("status"),
      text("error"),
      number("duration_ms"),
      text("answer"),
    ],
  },
  {
    name: "delivery_rates",
    key: ["webhook", "starts_at_ms"],
    columns: [number("webhook"), number("starts_at_ms"), number("count")],
  },
  {
    name: "attempt_stats",
    key: ["webhook", "starts_at", "duration_class"],
    columns: [
      number("webhook"),
      number("starts_at"),
      number("duration_class"),
      number("attempts"),
      number("delivered"),
      number("failed"),
    ],
  },
  {
    name: "delivery_totals",
    key: ["state"],
    summed: "count",
    columns: [text("state"), number("count")],
  },
  {
    name: "tokens",
    key: ["app_id", "fid", "client_fid"],
    columns: [
      text("app_id"),
      number("fid"),
      number("client_fid"),
      text("url"),
      text("host"),
      text("token"),
      flag("enabled"),
      text("last_event"),
      number("created_at"),
      number("updated_at"),
    ],
  },
  { name: "token_totals", key: ["state"], summed: "count", columns: [text("state"), number("count")] },
  {
    name: "audience_clients",
    key: ["app_id", "client_fid", "host", "state"],
    summed: "count",
    columns: [text("app_id"), number("client_fid"), text("host"), text("state"), number("count")],
  },
  {
    name: "audience_days",
    key: ["app_id", "day", "change"],
    summed: "count",
    columns: [text("app_id"), number("day"), text("change"), number("count")],
  },
  {
    name: "token_changes",
    key: ["app_id", "fid"],
    columns: [text("app_id"), number("fid"), numbers("changed_at"), number("expires_at")],
    added: { last_change: null },
  },
  {
    name: "campaigns",
    key: ["seq"],
    sequence: "seq",
    cleared: ["runner"],
    added: { ledger_writes: "0" },
    columns: [
      number("seq"),
      text("campaign_id"),
      text("app_id"),
      number("dedupe_key"),
      text("notification_id"),
      text("title"),
      text("body"),
      text("target_url"),
      text("status"),
      number("success_count"),
      number("failure_count"),
      number("not_attempted_count"),
      number("audience_count"),
      number("created_at"),
      number("started_at"),
      number("ended_at"),
      text("runner"),
      number("epoch"),
      number("runs"),
      number("not_before_ms"),
    ],
  },
  { name: "campaign_audiences", key: ["campaign"], columns: [number("campaign"), text("audience")] },
  {
    name: "campaign_counts",
    key: ["campaign", "host", "kind", "reason"],
    columns: [number("campaign"), text("host"), text("kind"), text("reason"), number("count")],
  },
  {
    name: "campaign_clients",
    key: ["campaign", "client_fid"],
    columns: [number("campaign"), number("client_fid"), number("tokens"), number("successes")],
  },
  {
    name: "campaign_failures",
    key: ["campaign", "client_fid", "block"],
    columns: [number("campaign"), number("client_fid"), number("block"), bytes("fids")],
  },
  { name: "campaign_retryable", key: ["campaign", "fid"], columns: [number("campaign"), number("fid")] },
  {
    name: "dedupe_keys",
    key: ["key"],
    sequence: "key",
    columns: [number("key"), text("app_id"), text("notification_id"), number("expires_at")],
  },
  {
    name: "dedupe",
    key: ["key", "client_fid", "block", "campaign", "sent"],
    columns: [
      number("key"),
      number("client_fid"),
      number("block"),
      number("campaign"),
      flag("sent"),
      bytes("fids"),
      number("expires_at"),
    ],
  },
  {
    name: "node_logs",
    key: ["node_id"],
    columns: [text("node_id"), text("log_id"), number("reserved_height")],
  },
  {
    name: "managed_signers",
    key: ["seq"],
    sequence: "seq",
    columns: [
      number("seq"),
      text("signer_uuid"),
      number("owner_fid"),
      bytes("public_key"),
      bytes("sealed"),
      text("key_id"),
      text("permissions"),
      number("created_at"),
      number("updated_at"),
      number("fid"),
      number("approved_at"),
      text("approved_by"),
      text("approved_blocks"),
      number("app_fid"),
      number("request_deadline"),
      bytes("request_signature"),
      bytes("gasless_signature"),
      text("redirect_url"),
      bytes("request_id"),
      bytes("token_digest"),
      number("request_used_at"),
      number("submitted_fid"),
      number("submitted_request_fid"),
    ],
  },
  {
    name: "one_time_nonces",
    key: ["nonce"],
    columns: [text("nonce"), text("purpose"), number("expires_at")],
  },
  {
    name: "sessions",
    key: ["seq"],
    sequence: "seq",
    columns: [
      number("seq"),
      text("session_id"),
      number("owner_fid"),
      bytes("public_key"),
      bytes("custody"),
      text("access"),
      text("label"),
      text("origin"),
      number("created_at"),
      number("expires_at"),
      number("last_used_at"),
    ],
  },
  {
    name: "audit_entries",
    key: ["seq"],
    sequence: "seq",
    columns: [
      number("seq"),
      number("at_ms"),
      number("owner_fid"),
      text("action"),
      text("api_key_id"),
      text("signer_uuid"),
      number("user_fid"),
      bytes("hash"),
      text("record_id"),
      text("outcome"),
      text("request_id"),
      text("address"),
    ],
  },
  {
    name: "write_calls",
    key: ["seq"],
    sequence: "seq",
    columns: [
      number("seq"),
      number("owner_fid"),
      text("signer_uuid"),
      text("route"),
      text("idem"),
      bytes("body_digest"),
      text("request"),
      text("outcomes"),
      flag("done"),
      number("expires_at"),
    ],
  },
  {
    name: "queued_writes",
    key: ["seq"],
    sequence: "seq",
    // A leased message is due at the end of its lease.
    cleared: ["lease_ends_at_ms", "claimed_by"],
    columns: [
      number("seq"),
      number("owner_fid"),
      text("api_key_id"),
      text("request"),
      number("position"),
      number("fid"),
      number("type"),
      bytes("hash"),
      bytes("message"),
      text("state"),
      text("reason"),
      flag("accepted"),
      number("attempts"),
      number("due_at_ms"),
      number("lease_ends_at_ms"),
      text("claimed_by"),
      number("created_at"),
      number("updated_at"),
      text("audit"),
    ],
  },
  {
    name: "write_clocks",
    key: ["fid", "slot"],
    columns: [number("fid"), bytes("slot"), number("timestamp"), number("expires_at")],
  },
  {
    name: "seen_notifications",
    key: ["owner_fid", "fid", "type"],
    columns: [number("owner_fid"), number("fid"), text("type"), number("seen_at")],
  },
  {
    name: "switches",
    key: ["name"],
    columns: [text("name"), text("reason"), text("paused_by"), number("paused_at")],
  },
];

/** Tables that are not copied row by row: the clock gets the time of the copy, the rest belongs to the nodes of one state. */
export const OWN_STATE_TABLES = {
  sqlite: ["state_clock", "state_move"],
  postgres: ["state_clock", "cluster", "nodes", "leases", "schema_functions"],
} as const;
