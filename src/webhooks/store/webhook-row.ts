import type { Webhook, WebhookHealth } from "./webhook-store.ts";

/** Columns of `webhook_health` as `h`, for a join. */
export const HEALTH_COLUMNS =
  "h.queued, h.last_success_at, h.last_failure_at, h.consecutive_failures, h.failing_since, h.dropped, h.deactivated_at, " +
  "h.deactivation_reason";

export interface HealthRow {
  readonly queued: number;
  readonly last_success_at: number | null;
  readonly last_failure_at: number | null;
  readonly consecutive_failures: number;
  readonly failing_since: number | null;
  readonly dropped: number;
  readonly deactivated_at: number | null;
  readonly deactivation_reason: string | null;
}

export function toHealth(row: HealthRow): WebhookHealth {
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

/** A row of the table `webhooks` with its health, in every database of the state. */
export interface WebhookRow extends HealthRow {
  readonly webhook_id: string;
  readonly owner_fid: number;
  readonly title: string;
  readonly target_url: string;
  readonly description: string | null;
  /** 0 or 1 in SQLite. */
  readonly active: number | boolean;
  readonly subscription: string;
  readonly compat_prefix: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

/** The columns of a webhook without its health. */
export const WEBHOOK_COLUMNS =
  "webhook_id, owner_fid, title, target_url, description, active, subscription, compat_prefix, created_at, updated_at";

export function toWebhook(row: WebhookRow): Omit<Webhook, "secrets"> {
  return {
    webhookId: row.webhook_id,
    ownerFid: row.owner_fid,
    title: row.title,
    targetUrl: row.target_url,
    description: row.description,
    active: Boolean(row.active),
    subscription: JSON.parse(row.subscription),
    compatPrefix: row.compat_prefix,
    health: toHealth(row),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
