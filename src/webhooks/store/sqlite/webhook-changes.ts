import type { StateDatabase } from "../../../db/state/database.ts";
import type { StateClock } from "../../../db/state/state-clock.ts";
import { statement } from "../../../db/state/statement.ts";
import type { SweepStep } from "../../../db/state/sweep.ts";
import type { SubscriptionChanges } from "../delivery-publications.ts";
import { type ChangeRow, TOMBSTONE_SECS, toChanges } from "../webhook-change-row.ts";

const noteChanged = statement<unknown, [webhookId: string]>(
  "webhook-changes.changed",
  "INSERT OR REPLACE INTO webhook_changes (webhook_id, deleted_at) VALUES (?, NULL)",
);
const noteDeleted = statement<unknown, [webhookId: string, nowSecs: number]>(
  "webhook-changes.deleted",
  "INSERT OR REPLACE INTO webhook_changes (webhook_id, deleted_at) VALUES (?, ?)",
);
const changesSince = statement<ChangeRow, [sinceVersion: number]>(
  "webhook-changes.since",
  `SELECT c.version, c.webhook_id, w.owner_fid, w.active, w.subscription, w.created_at FROM webhook_changes c
   LEFT JOIN webhooks w ON w.webhook_id = c.webhook_id WHERE c.version > ? ORDER BY c.version`,
);
const anySince = statement<{ one: number }, [sinceVersion: number]>(
  "webhook-changes.any-since",
  "SELECT 1 AS one FROM webhook_changes WHERE version > ? LIMIT 1",
);
const sweepDeleted = statement<unknown, [deletedUntil: number, max: number]>(
  "webhook-changes.sweep",
  `DELETE FROM webhook_changes WHERE version IN
   (SELECT version FROM webhook_changes WHERE deleted_at <= ? ORDER BY deleted_at LIMIT ?)`,
);

/** Records that a webhook was created or changed, within the transaction that does so. */
export function recordWebhookChange(db: StateDatabase, webhookId: string): void {
  db.run(noteChanged, webhookId);
}

export function recordWebhookDeletion(db: StateDatabase, webhookId: string, nowSecs: number): void {
  db.run(noteDeleted, webhookId, nowSecs);
}

export function readWebhookChanges(db: StateDatabase, sinceVersion: number): SubscriptionChanges {
  return toChanges(db.all(changesSince, sinceVersion), sinceVersion);
}

/** Returns whether any webhook has changed since a version. */
export function hasWebhookChanged(db: StateDatabase, sinceVersion: number): boolean {
  return db.get(anySince, sinceVersion) !== undefined;
}

/** Deletes the tombstones of deleted webhooks. */
export function webhookChangeSweep(db: StateDatabase, clock: StateClock): SweepStep {
  return (maxRows) => {
    const deleted = db.run(sweepDeleted, clock.sweepableSecs() - TOMBSTONE_SECS, maxRows);
    return { deleted, more: deleted === maxRows };
  };
}
