import type { PgPool, PgQueries, PgTransaction } from "../../../db/postgres/pool.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import type { StateClock } from "../../../db/state/state-clock.ts";
import type { Sweep } from "../../../db/state/sweep.ts";
import type { SubscriptionChanges } from "../delivery-publications.ts";
import { type ChangeRow, TOMBSTONE_SECS, toChanges } from "../webhook-change-row.ts";

const noteChange = pgStatement<unknown, [webhookId: string, deletedAt: number | null]>(
  "webhook-changes.note",
  `INSERT INTO webhook_changes (webhook_id, deleted_at) VALUES ($1, $2)
   ON CONFLICT (webhook_id) DO UPDATE SET version = excluded.version, deleted_at = excluded.deleted_at`,
);
const changesSince = pgStatement<ChangeRow, [sinceVersion: number]>(
  "webhook-changes.since",
  `SELECT c.version, c.webhook_id, w.owner_fid, w.active, w.subscription, w.created_at FROM webhook_changes c
   LEFT JOIN webhooks w ON w.webhook_id = c.webhook_id WHERE c.version > $1 ORDER BY c.version`,
);
const anySince = pgStatement<{ one: number }, [sinceVersion: number]>(
  "webhook-changes.any-since",
  "SELECT 1 AS one FROM webhook_changes WHERE version > $1 LIMIT 1",
);
const sweepDeleted = pgStatement<unknown, [deletedUntil: number, max: number]>(
  "webhook-changes.sweep",
  `DELETE FROM webhook_changes WHERE version IN
   (SELECT version FROM webhook_changes WHERE deleted_at <= $1 ORDER BY deleted_at LIMIT $2
    FOR UPDATE SKIP LOCKED)`,
);

/**
 * Records that a webhook was created, changed or deleted, within the transaction that does so. It holds the change lock since
 * its first statement, so that versions become visible in their order.
 */
export async function recordWebhookChange(
  tx: PgTransaction,
  webhookId: string,
  deletedAt: number | null = null,
): Promise<void> {
  await tx.run(noteChange, webhookId, deletedAt);
}

export async function readWebhookChanges(
  queries: PgQueries,
  sinceVersion: number,
): Promise<SubscriptionChanges> {
  return toChanges(await queries.all(changesSince, sinceVersion), sinceVersion);
}

/** Returns whether any webhook has changed since a version. */
export async function hasWebhookChanged(queries: PgQueries, sinceVersion: number): Promise<boolean> {
  return (await queries.get(anySince, sinceVersion)) !== undefined;
}

/** Deletes the tombstones of deleted webhooks. */
export function webhookChangeSweep(pool: PgPool, clock: StateClock): Sweep["step"] {
  return async (maxRows) => {
    const deleted = await pool.run(sweepDeleted, clock.sweepableSecs() - TOMBSTONE_SECS, maxRows);
    return { deleted, more: deleted === maxRows };
  };
}
