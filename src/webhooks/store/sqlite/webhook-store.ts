import type { StateDatabase } from "../../../db/state/database.ts";
import type { StateClock } from "../../../db/state/state-clock.ts";
import { statement } from "../../../db/state/statement.ts";
import type { StoreWrites } from "../../../db/state/store-writes.ts";
import { type OwnedTable, ownedReads, ownedWrites } from "../../../management/sqlite/owned-store.ts";
import type { Webhook, WebhookChanges, WebhookStore } from "../webhook-store.ts";
import { recordWebhookChange, recordWebhookDeletion } from "./webhook-changes.ts";
import { HEALTH_COLUMNS, type HealthRow, insertHealth, resetFailures, toHealth } from "./webhook-health.ts";

interface WebhookRow extends HealthRow {
  readonly webhook_id: string;
  readonly owner_fid: number;
  readonly title: string;
  readonly target_url: string;
  readonly description: string | null;
  readonly active: number;
  readonly subscription: string;
  readonly compat_prefix: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

const columns =
  "webhook_id, owner_fid, title, target_url, description, active, subscription, compat_prefix, created_at, updated_at";
const withHealth = `SELECT ${columns}, ${HEALTH_COLUMNS} FROM webhooks w JOIN webhook_health h ON h.webhook = w.seq`;

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
>("webhooks.insert", `INSERT INTO webhooks (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
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
const deleteWebhook = statement<unknown, [webhookId: string]>(
  "webhooks.delete",
  "DELETE FROM webhooks WHERE webhook_id = ?",
);
const webhookById = statement<WebhookRow, [webhookId: string]>(
  "webhooks.find",
  `${withHealth} WHERE webhook_id = ?`,
);
const webhooksByOwner = statement<WebhookRow, [ownerFid: number]>(
  "webhooks.by-owner",
  `${withHealth} WHERE owner_fid = ? ORDER BY seq`,
);
const countWebhooks = statement<{ count: number }, [ownerFid: number]>(
  "webhooks.count",
  "SELECT count(*) AS count FROM webhooks WHERE owner_fid = ?",
);

function toWebhook(row: WebhookRow): Omit<Webhook, "secrets"> {
  return {
    webhookId: row.webhook_id,
    ownerFid: row.owner_fid,
    title: row.title,
    targetUrl: row.target_url,
    description: row.description,
    active: row.active === 1,
    subscription: JSON.parse(row.subscription),
    compatPrefix: row.compat_prefix,
    health: toHealth(row),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

const table: OwnedTable<Webhook> = {
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
    db.run(deleteWebhook, id);
    recordWebhookDeletion(db, id, nowSecs);
  },
  find(db, id) {
    const row = db.get(webhookById, id);
    return row && toWebhook(row);
  },
  listByOwner: (db, ownerFid) => db.all(webhooksByOwner, ownerFid).map(toWebhook),
  countByOwner: (db, ownerFid) => db.get(countWebhooks, ownerFid)?.count ?? 0,
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
