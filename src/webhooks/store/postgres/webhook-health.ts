import type { PgTransaction } from "../../../db/postgres/pool.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";

const insert = pgStatement<unknown, [webhookId: string]>(
  "webhook-health.insert",
  `INSERT INTO webhook_health (webhook, queued, consecutive_failures, dropped)
   SELECT seq, 0, 0, 0 FROM webhooks WHERE webhook_id = $1`,
);
const resetInactive = pgStatement<unknown, [webhookId: string]>(
  "webhook-health.start-afresh",
  `UPDATE webhook_health SET consecutive_failures = 0, failing_since = NULL, deactivated_at = NULL,
     deactivation_reason = NULL, behind_since_ms = NULL, held_until_ms = NULL
   WHERE webhook = (SELECT seq FROM webhooks WHERE webhook_id = $1 AND NOT active)`,
);

/** Creates the health row of a new webhook. */
export async function insertHealth(tx: PgTransaction, webhookId: string): Promise<void> {
  await tx.run(insert, webhookId);
}

/** Resets the health of an inactive webhook that is about to be activated. */
export async function resetFailures(tx: PgTransaction, webhookId: string): Promise<void> {
  await tx.run(resetInactive, webhookId);
}
