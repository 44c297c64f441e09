import { sql } from "../../db/state/sql.ts";
import type { Queries, StateDb, Sweep } from "../../db/state/state-db.ts";
import type { Deactivation, SubscriptionChanges } from "./delivery-publications.ts";
import type { FailureRule } from "./delivery-queue.ts";

/** A row of the change feed with its webhook; null columns for a deleted webhook. */
interface ChangeRow {
  readonly version: number;
  readonly webhook_id: string;
  readonly owner_fid: number | null;
  /** 0 or 1 in SQLite. */
  readonly active: number | boolean | null;
  readonly subscription: string | null;
  readonly created_at: number | null;
}

/** A reader that reads the changes less often than this has to read all webhooks again. */
const TOMBSTONE_SECS = 86_400;

const noteChange = sql<unknown, [webhookId: string, deletedAt: number | null]>(
  "webhook-changes.note",
  `INSERT INTO webhook_changes (webhook_id, deleted_at) VALUES ($1, $2)
   ON CONFLICT (webhook_id) DO UPDATE SET version = excluded.version, deleted_at = excluded.deleted_at`,
  "INSERT OR REPLACE INTO webhook_changes (webhook_id, deleted_at) VALUES (?1, ?2)",
);
const changesSince = sql<ChangeRow, [sinceVersion: number]>(
  "webhook-changes.since",
  `SELECT c.version, c.webhook_id, w.owner_fid, w.active, w.subscription, w.created_at FROM webhook_changes c
   LEFT JOIN webhooks w ON w.webhook_id = c.webhook_id WHERE c.version > $1 ORDER BY c.version`,
);
const anySince = sql<{ one: number }, [sinceVersion: number]>(
  "webhook-changes.any-since",
  "SELECT 1 AS one FROM webhook_changes WHERE version > $1 LIMIT 1",
);
const sweepDeleted = sql<unknown, [deletedUntil: number, max: number]>(
  "webhook-changes.sweep",
  `DELETE FROM webhook_changes WHERE version IN
   (SELECT c.version FROM webhook_changes c WHERE c.deleted_at <= $1 ORDER BY c.deleted_at LIMIT $2
    FOR UPDATE SKIP LOCKED)`,
);

/**
 * Records that a webhook was created, changed or deleted, within the transaction that does so. The transaction holds the change lock from
 * its first statement, so that versions become visible in order.
 */
export async function recordWebhookChange(
  tx: Pick<Queries, "run">,
  webhookId: string,
  deletedAt: number | null = null,
): Promise<void> {
  await tx.run(noteChange, webhookId, deletedAt);
}

export async function readWebhookChanges(
  queries: Pick<Queries, "all">,
  sinceVersion: number,
): Promise<SubscriptionChanges> {
  return toChanges(await queries.all(changesSince, sinceVersion), sinceVersion);
}

/** Returns whether any webhook has changed since a version. */
export async function hasWebhookChanged(
  queries: Pick<Queries, "get">,
  sinceVersion: number,
): Promise<boolean> {
  return (await queries.get(anySince, sinceVersion)) !== undefined;
}

/** Deletes the tombstones of deleted webhooks. */
export function webhookChangeSweep(db: StateDb): Sweep {
  return db.sweep("webhook_changes", (tx, maxRows) =>
    tx.run(sweepDeleted, tx.clock.sweepableSecs() - TOMBSTONE_SECS, maxRows),
  );
}

/** @param rows the changes after `sinceVersion`, ordered by version. */
function toChanges(rows: readonly ChangeRow[], sinceVersion: number): SubscriptionChanges {
  return {
    version: rows.at(-1)?.version ?? sinceVersion,
    changed: rows.flatMap(({ webhook_id, owner_fid, active, subscription, created_at }) =>
      subscription === null
        ? []
        : [
            {
              webhookId: webhook_id,
              ownerFid: owner_fid ?? 0,
              active: Boolean(active),
              subscription: JSON.parse(subscription),
              createdAt: created_at ?? 0,
            },
          ],
    ),
    deleted: rows.filter(({ subscription }) => subscription === null).map(({ webhook_id }) => webhook_id),
  };
}

/** Why the node deactivated a webhook whose receiver refuses further deliveries, as text for the owner. */
export const GONE = "the receiver responded with 410 Gone";

const deactivate = sql<{ seq: number }, [nowSecs: number, webhookId: string, version: number]>(
  "webhooks.deactivate",
  `UPDATE webhooks SET active = false, updated_at = $1 WHERE webhook_id = $2 AND active AND NOT EXISTS
     (SELECT 1 FROM webhook_changes c WHERE c.webhook_id = $2 AND c.version > $3) RETURNING seq`,
);
const recordReason = sql<unknown, [nowSecs: number, reason: string, webhook: number]>(
  "webhook-health.deactivate",
  "UPDATE webhook_health SET deactivated_at = $1, deactivation_reason = $2 WHERE webhook = $3",
);

/** Returns why the node deactivated a webhook after `failures` consecutive failed deliveries, as text for the owner. */
export function failureRunReason(failures: number, { runSecs }: FailureRule): string {
  const hours = Math.round(runSecs / 3600);
  return `${failures} deliveries in a row failed, over ${hours === 1 ? "1 hour" : `${hours} hours`} or more`;
}

/** Deactivates a webhook that is active and has not changed since a version. Returns false if nothing changed. */
type DeactivateUnchanged = (deactivation: Deactivation) => Promise<boolean>;

export function createDeactivation(db: StateDb): DeactivateUnchanged {
  return db.decision(
    "publications.deactivate",
    async (tx, { webhookId, reason, version, nowSecs }: Deactivation): Promise<boolean> => {
      await tx.lock("change");
      const webhook = await tx.get(deactivate, nowSecs, webhookId, version);
      if (!webhook) return false;
      await tx.run(recordReason, nowSecs, reason, webhook.seq);
      await recordWebhookChange(tx, webhookId);
      return true;
    },
  );
}
