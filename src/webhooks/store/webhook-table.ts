import { sql } from "../../db/state/sql.ts";
import type { StateDb } from "../../db/state/state-db.ts";
import { createOwnedStore, type OwnedTable, ownedRows } from "../../management/owned-store.ts";
import { recordWebhookChange } from "./webhook-changes.ts";
import { HEALTH_COLUMNS, toWebhook, WEBHOOK_COLUMNS, type WebhookRow } from "./webhook-row.ts";
import type { Webhook, WebhookChanges, WebhookStore } from "./webhook-store.ts";

/** The health row of a new webhook. */
const insertHealth = sql<unknown, [webhookId: string]>(
  "webhook-health.insert",
  `INSERT INTO webhook_health (webhook, queued, consecutive_failures, dropped)
   SELECT seq, 0, 0, 0 FROM webhooks WHERE webhook_id = $1`,
);
/** Resets the health of an inactive webhook that is about to be activated. */
const resetFailures = sql<unknown, [webhookId: string]>(
  "webhook-health.start-afresh",
  `UPDATE webhook_health SET consecutive_failures = 0, failing_since = NULL, deactivated_at = NULL,
     deactivation_reason = NULL, behind_since_ms = NULL, held_until_ms = NULL
   WHERE webhook = (SELECT seq FROM webhooks WHERE webhook_id = $1 AND NOT active)`,
);
const insertWebhook = sql<
  unknown,
  [
    webhookId: string,
    ownerFid: number,
    title: string,
    targetUrl: string,
    description: string | null,
    active: boolean,
    subscription: string,
    compatPrefix: string | null,
    createdAt: number,
    updatedAt: number,
  ]
>(
  "webhooks.insert",
  `INSERT INTO webhooks (${WEBHOOK_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);
const updateWebhook = sql<
  unknown,
  [
    title: string,
    targetUrl: string,
    description: string | null,
    active: boolean,
    subscription: string,
    updatedAt: number,
    webhookId: string,
  ]
>(
  "webhooks.update",
  `UPDATE webhooks SET title = $1, target_url = $2, description = $3, active = $4, subscription = $5, updated_at = $6
   WHERE webhook_id = $7`,
);

const rows = ownedRows<Webhook, WebhookRow>({
  table: "webhooks",
  idColumn: "webhook_id",
  columns: WEBHOOK_COLUMNS,
  joined: { columns: HEALTH_COLUMNS, joins: "JOIN webhook_health h ON h.webhook = r.seq" },
  toItem: toWebhook,
});

const table: OwnedTable<Webhook> = {
  ...rows,
  idOf: (webhook) => webhook.webhookId,
  lockedFirst: "change",
  async insert(tx, webhook) {
    const { webhookId, ownerFid, title, targetUrl, description, active, compatPrefix } = webhook;
    const subscription = JSON.stringify(webhook.subscription);
    await tx.run(
      insertWebhook,
      webhookId,
      ownerFid,
      title,
      targetUrl,
      description,
      active,
      subscription,
      compatPrefix,
      webhook.createdAt,
      webhook.updatedAt,
    );
    await tx.run(insertHealth, webhookId);
    await recordWebhookChange(tx, webhookId);
  },
  async write(tx, webhook) {
    const { webhookId, title, targetUrl, description, active, updatedAt } = webhook;
    const subscription = JSON.stringify(webhook.subscription);
    if (active) await tx.run(resetFailures, webhookId);
    await tx.run(updateWebhook, title, targetUrl, description, active, subscription, updatedAt, webhookId);
    await recordWebhookChange(tx, webhookId);
  },
  // Its deliveries are not read any more; maintenance deletes them in small steps.
  async delete(tx, id, nowSecs) {
    await rows.deleteRow(tx, id);
    await recordWebhookChange(tx, id, nowSecs);
  },
};

export function createWebhooks(db: StateDb): WebhookStore {
  return createOwnedStore<Webhook, WebhookChanges>(db, "webhooks", table);
}
