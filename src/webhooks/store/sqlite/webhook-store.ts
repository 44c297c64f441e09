import type { StateDatabase } from "../../../db/state/database.ts";
import type { StateClock } from "../../../db/state/state-clock.ts";
import { statement } from "../../../db/state/statement.ts";
import type { StoreWrites } from "../../../db/state/store-writes.ts";
import {
  type OwnedTable,
  ownedReads,
  ownedRows,
  ownedWrites,
} from "../../../management/sqlite/owned-store.ts";
import { HEALTH_COLUMNS, toWebhook, WEBHOOK_COLUMNS, type WebhookRow } from "../webhook-row.ts";
import type { Webhook, WebhookChanges, WebhookStore } from "../webhook-store.ts";
import { recordWebhookChange, recordWebhookDeletion } from "./webhook-changes.ts";
import { insertHealth, resetFailures } from "./webhook-health.ts";

const insertWebhook = statement<
  unknown,
  [
    webhookId: string,
    ownerFid: number,
    title: string,
    targetUrl: string,
    description: string | null,
    active: number,
    subscription: string,
    compatPrefix: string | null,
    createdAt: number,
    updatedAt: number,
  ]
>("webhooks.insert", `INSERT INTO webhooks (${WEBHOOK_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
const updateWebhook = statement<
  unknown,
  [
    title: string,
    targetUrl: string,
    description: string | null,
    active: number,
    subscription: string,
    updatedAt: number,
    webhookId: string,
  ]
>(
  "webhooks.update",
  `UPDATE webhooks SET title = ?, target_url = ?, description = ?, active = ?, subscription = ?, updated_at = ?
   WHERE webhook_id = ?`,
);

const rows = ownedRows<Webhook, WebhookRow>({
  table: "webhooks",
  idColumn: "webhook_id",
  select: `SELECT ${WEBHOOK_COLUMNS}, ${HEALTH_COLUMNS} FROM webhooks w JOIN webhook_health h ON h.webhook = w.seq`,
  toItem: toWebhook,
});

const table: OwnedTable<Webhook> = {
  ...rows,
  idOf: (webhook) => webhook.webhookId,
  insert(db, webhook) {
    const { webhookId, ownerFid, title, targetUrl, description, compatPrefix, createdAt, updatedAt } =
      webhook;
    const active = webhook.active ? 1 : 0;
    const subscription = JSON.stringify(webhook.subscription);
    db.run(
      insertWebhook,
      webhookId,
      ownerFid,
      title,
      targetUrl,
      description,
      active,
      subscription,
      compatPrefix,
      createdAt,
      updatedAt,
    );
    insertHealth(db, webhookId);
    recordWebhookChange(db, webhookId);
  },
  write(db, webhook) {
    const { webhookId, title, targetUrl, description, updatedAt } = webhook;
    const active = webhook.active ? 1 : 0;
    const subscription = JSON.stringify(webhook.subscription);
    if (webhook.active) resetFailures(db, webhookId);
    db.run(updateWebhook, title, targetUrl, description, active, subscription, updatedAt, webhookId);
    recordWebhookChange(db, webhookId);
  },
  // Its deliveries are not read any more; maintenance deletes them in small steps.
  delete(db, id, nowSecs) {
    rows.delete(db, id, nowSecs);
    recordWebhookDeletion(db, id, nowSecs);
  },
};

export function webhookReads(db: StateDatabase): Pick<WebhookStore, "find" | "listByOwner"> {
  return ownedReads<Webhook, WebhookChanges>(db, table);
}

export function webhookWrites(
  db: StateDatabase,
  clock: StateClock,
): StoreWrites<WebhookStore, "create" | "update" | "delete" | "rotateSecret"> {
  return ownedWrites(db, table, clock);
}
