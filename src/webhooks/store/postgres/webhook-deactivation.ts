import type { PgPool } from "../../../db/postgres/pool.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import type { Deactivation } from "../delivery-publications.ts";
import { recordWebhookChange } from "../webhook-changes.ts";

const deactivate = pgStatement<{ seq: number }, [nowSecs: number, webhookId: string, version: number]>(
  "webhooks.deactivate",
  `UPDATE webhooks w SET active = false, updated_at = $1 WHERE w.webhook_id = $2 AND w.active AND NOT EXISTS
     (SELECT 1 FROM webhook_changes c WHERE c.webhook_id = $2 AND c.version > $3) RETURNING w.seq`,
);
const recordReason = pgStatement<unknown, [nowSecs: number, reason: string, webhook: number]>(
  "webhook-health.deactivate",
  "UPDATE webhook_health SET deactivated_at = $1, deactivation_reason = $2 WHERE webhook = $3",
);
const reasonOf = pgStatement<{ one: number }, [webhookId: string, nowSecs: number, reason: string]>(
  "webhook-health.deactivated",
  `SELECT 1 AS one FROM webhooks w JOIN webhook_health h ON h.webhook = w.seq
   WHERE w.webhook_id = $1 AND NOT w.active AND h.deactivated_at = $2 AND h.deactivation_reason = $3`,
);

/**
 * Deactivates a webhook that is active and has not changed since a version.
 *
 * @returns false when nothing changed.
 */
export function deactivateUnchanged(
  pool: PgPool,
  { webhookId, reason, version, nowSecs }: Deactivation,
): Promise<boolean> {
  let isRepeated = false;
  return pool.transaction(async (tx) => {
    await tx.lock("change");
    const webhook = await tx.get(deactivate, nowSecs, webhookId, version);
    if (!webhook) {
      // The answer of an earlier try may have been lost.
      return isRepeated && (await tx.get(reasonOf, webhookId, nowSecs, reason)) !== undefined;
    }
    isRepeated = true;
    await tx.run(recordReason, nowSecs, reason, webhook.seq);
    await recordWebhookChange(tx, webhookId);
    return true;
  });
}
