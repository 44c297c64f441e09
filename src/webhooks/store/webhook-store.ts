import { sql } from "../../db/state/sql.ts";
import type { StateDb } from "../../db/state/state-db.ts";
import {
  flag,
  index,
  json,
  nullable,
  type RecordOf,
  type Row,
  sequence,
  table,
  text,
  unique,
  whole,
} from "../../db/state/table.ts";
import {
  createOwnedStore,
  type OwnedRecord,
  type OwnedStore,
  ownedTable,
} from "../../management/owned-store.ts";
import type { ChangedMembers } from "../../management/record-fields.ts";
import type { Subscription } from "../subscription.ts";
import type { WEBHOOK_FIELDS } from "../webhook-fields.ts";
import type { webhookHealth } from "./tables.ts";
import { recordWebhookChange } from "./webhook-changes.ts";

/** Columns of `webhook_health` as `h`, for a join. */
const HEALTH_COLUMNS =
  "h.queued, h.last_success_at, h.last_failure_at, h.consecutive_failures, h.failing_since, h.dropped, h.deactivated_at, " +
  "h.deactivation_reason";

type HealthRow = Row<
  typeof webhookHealth,
  | "queued"
  | "last_success_at"
  | "last_failure_at"
  | "consecutive_failures"
  | "failing_since"
  | "dropped"
  | "deactivated_at"
  | "deactivation_reason"
>;

function toHealth(row: HealthRow): WebhookHealth {
  return {
    queued: row.queued,
    lastSuccessAt: row.last_success_at,
    lastFailureAt: row.last_failure_at,
    consecutiveFailures: row.consecutive_failures,
    failingSince: row.failing_since,
    dropped: row.dropped,
    deactivatedAt: row.deactivated_at,
    deactivationReason: row.deactivation_reason,
  };
}

/** Webhooks. Times are unix seconds; `seq` is the order of creation. */
export const webhooks = table(
  "webhooks",
  {
    seq: sequence(),
    /** UUID. */
    webhook_id: unique(text()),
    owner_fid: whole(),
    title: text(),
    target_url: text(),
    description: nullable(text()),
    /** Whether new deliveries are queued. */
    active: flag(),
    /** In the normal form of `readSubscription`. */
    subscription: json<Subscription>(),
    /** The compat prefix under which it was created, such as `farcaster`; null for the service's own prefix. */
    compat_prefix: nullable(text()),
    created_at: whole(),
    updated_at: whole(),
  },
  {
    indexes: [index("webhooks_by_owner", ["owner_fid", "seq"])],
  },
);

/** Delivery health of a webhook. */
interface WebhookHealth {
  /** Deliveries that wait for an attempt or are being attempted. */
  readonly queued: number;
  /** When a delivery last succeeded. */
  readonly lastSuccessAt: number | null;
  /** When an attempt last failed. */
  readonly lastFailureAt: number | null;
  /** Consecutive deliveries whose attempts all failed. */
  readonly consecutiveFailures: number;
  /** When the first of them failed; null if there are none. */
  readonly failingSince: number | null;
  /** Deliveries that expired in the queue or did not fit into it. */
  readonly dropped: number;
  /** When and why the node deactivated the webhook; null if it did not, or if the webhook was reactivated. */
  readonly deactivatedAt: number | null;
  readonly deactivationReason: string | null;
}

/** The health of a webhook without deliveries. */
export const UNTRIED: WebhookHealth = {
  queued: 0,
  lastSuccessAt: null,
  lastFailureAt: null,
  consecutiveFailures: 0,
  failingSince: null,
  dropped: 0,
  deactivatedAt: null,
  deactivationReason: null,
};

/** A receiver of events. */
export interface Webhook extends RecordOf<typeof webhooks>, OwnedRecord {
  readonly health: WebhookHealth;
}

export type WebhookChanges = ChangedMembers<typeof WEBHOOK_FIELDS> & Partial<Pick<Webhook, "subscription">>;

export type WebhookStore = OwnedStore<Webhook, WebhookChanges>;

/** The health row of a new webhook. */
const insertHealth = sql<unknown, [webhookId: string]>(
  "webhook-health.insert",
  `INSERT INTO webhook_health (webhook, queued, consecutive_failures, dropped)
   SELECT seq, 0, 0, 0 FROM webhooks WHERE webhook_id = $1`,
);
/** Resets the health of an inactive webhook before it is activated. */
const resetFailures = sql<unknown, [webhookId: string]>(
  "webhook-health.start-afresh",
  `UPDATE webhook_health SET consecutive_failures = 0, failing_since = NULL, deactivated_at = NULL,
     deactivation_reason = NULL, behind_since_ms = NULL, held_until_ms = NULL
   WHERE webhook = (SELECT seq FROM webhooks WHERE webhook_id = $1 AND NOT active)`,
);
const owned = ownedTable<typeof webhooks, Webhook, HealthRow>(webhooks, {
  idColumn: "webhook_id",
  joined: {
    columns: HEALTH_COLUMNS,
    joins: "JOIN webhook_health h ON h.webhook = r.seq",
    read: (row) => ({ health: toHealth(row) }),
  },
  lockedFirst: "change",
  hooks: {
    async inserted(tx, { webhookId }) {
      await tx.run(insertHealth, webhookId);
      await recordWebhookChange(tx, webhookId);
    },
    async updating(tx, { webhookId, active }) {
      if (active) await tx.run(resetFailures, webhookId);
    },
    updated: (tx, { webhookId }) => recordWebhookChange(tx, webhookId),
    // The webhook's deliveries are no longer read; maintenance deletes them in small steps.
    deleted: recordWebhookChange,
  },
});

export function createWebhooks(db: StateDb): WebhookStore {
  return createOwnedStore<Webhook, WebhookChanges>(db, "webhooks", owned);
}
