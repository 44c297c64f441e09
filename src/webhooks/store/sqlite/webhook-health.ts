import type { StateDatabase } from "../../../db/state/database.ts";
import { statement } from "../../../db/state/statement.ts";
import { failureRunReason, GONE } from "../deactivation-reason.ts";
import type { Deactivation } from "../delivery-publications.ts";
import type { FailureRule } from "../delivery-queue.ts";
import { noteWebhookChange } from "../webhook-changes.ts";

const succeed = statement<unknown, [webhook: number, nowSecs: number, deliveries: number]>(
  "webhook-health.succeed",
  `UPDATE webhook_health SET queued = queued - ?3, last_success_at = ?2, consecutive_failures = 0,
     failing_since = NULL WHERE webhook = ?1`,
);
const failOnce = statement<unknown, [webhook: number, nowSecs: number]>(
  "webhook-health.fail-once",
  "UPDATE webhook_health SET last_failure_at = ?2 WHERE webhook = ?1",
);
const failFinally = statement<
  { consecutive_failures: number; failing_since: number },
  [webhook: number, nowSecs: number]
>(
  "webhook-health.fail-finally",
  `UPDATE webhook_health SET queued = queued - 1, last_failure_at = ?2,
     consecutive_failures = consecutive_failures + 1, failing_since = coalesce(failing_since, ?2)
   WHERE webhook = ?1 RETURNING consecutive_failures, failing_since`,
);
const deactivate = statement<{ webhook_id: string }, [nowSecs: number, webhook: number]>(
  "webhooks.deactivate",
  "UPDATE webhooks SET active = 0, updated_at = ? WHERE seq = ? AND active = 1 RETURNING webhook_id",
);
const unchangedWebhook = statement<{ seq: number }, [webhookId: string, version: number]>(
  "webhooks.unchanged",
  `SELECT seq FROM webhooks w WHERE webhook_id = ?1 AND active = 1 AND NOT EXISTS
     (SELECT 1 FROM webhook_changes c WHERE c.webhook_id = ?1 AND c.version > ?2)`,
);
const recordDeactivation = statement<unknown, [nowSecs: number, reason: string, webhook: number]>(
  "webhook-health.deactivate",
  "UPDATE webhook_health SET deactivated_at = ?, deactivation_reason = ? WHERE webhook = ?",
);
const hold = statement<unknown, [heldUntilMs: number, webhook: number]>(
  "webhook-health.hold",
  "UPDATE webhook_health SET held_until_ms = ? WHERE webhook = ?",
);

/** Records successful deliveries, which end a run of failures. `nowSecs` is the time of the last one. */
export function recordSuccesses(
  db: StateDatabase,
  webhook: number,
  nowSecs: number,
  deliveries: number,
): void {
  db.run(succeed, webhook, nowSecs, deliveries);
}

/** Records a failed attempt that will be retried. */
export function recordFailedAttempt(db: StateDatabase, webhook: number, nowSecs: number): void {
  db.run(failOnce, webhook, nowSecs);
}

/**
 * Records a failed delivery.
 *
 * @returns the reason if this deactivated the webhook.
 */
export function recordFailedDelivery(
  db: StateDatabase,
  webhook: number,
  nowSecs: number,
  failure: { readonly isGone: boolean; readonly rule: FailureRule; readonly ranUntilSecs: number },
): string | undefined {
  const run = db.get(failFinally, webhook, nowSecs);
  const { failures, runSecs } = failure.rule;
  const isRunOver =
    run !== undefined &&
    run.consecutive_failures >= failures &&
    failure.ranUntilSecs - run.failing_since >= runSecs;
  if (!failure.isGone && !isRunOver) return undefined;
  const reason = failure.isGone ? GONE : failureRunReason(run?.consecutive_failures ?? 0, failure.rule);
  return deactivateFor(db, webhook, reason, nowSecs) ? reason : undefined;
}

/** Deactivates a webhook that has not changed since a version; false when it has changed or is not active. */
export function deactivateUnchanged(
  db: StateDatabase,
  { webhookId, reason, version, nowSecs }: Deactivation,
): boolean {
  const webhook = db.get(unchangedWebhook, webhookId, version);
  return webhook !== undefined && deactivateFor(db, webhook.seq, reason, nowSecs);
}

function deactivateFor(db: StateDatabase, webhook: number, reason: string, nowSecs: number): boolean {
  const deactivated = db.get(deactivate, nowSecs, webhook);
  if (!deactivated) return false;
  db.run(recordDeactivation, nowSecs, reason, webhook);
  noteWebhookChange(db, deactivated.webhook_id);
  return true;
}

/** Stores the time until which the receiver requested no calls. */
export function holdWebhook(db: StateDatabase, webhook: number, untilMs: number): void {
  db.run(hold, untilMs, webhook);
}
