import type { StateDatabase } from "../../../db/state/database.ts";
import type { StateClock } from "../../../db/state/state-clock.ts";
import { statement } from "../../../db/state/statement.ts";
import type { SweepStep } from "../../../db/state/sweep.ts";
import type { AttemptCounts } from "../attempt-counts.ts";
import { type AttemptStats, STATS_STEP_SECS, type StatsRequest } from "../attempt-stats.ts";
import { DELIVERY_RETENTION_SECS } from "../delivery-log.ts";

const add = statement<
  unknown,
  [webhook: number, at: number, durationClass: number, attempts: number, delivered: number, failed: number]
>(
  "attempt-stats.add",
  `INSERT INTO attempt_stats (webhook, starts_at, duration_class, attempts, delivered, failed) VALUES (?, ?, ?, ?, ?, ?)
   ON CONFLICT (webhook, starts_at, duration_class) DO UPDATE SET attempts = attempts + excluded.attempts,
     delivered = delivered + excluded.delivered, failed = failed + excluded.failed`,
);
const read = statement<AttemptStats, [webhookId: string, fromSecs: number, stepSecs: number]>(
  "attempt-stats.read",
  `SELECT starts_at - starts_at % ?3 AS at, duration_class, sum(attempts) AS attempts, sum(delivered) AS delivered,
     sum(failed) AS failed
   FROM attempt_stats WHERE webhook = (SELECT seq FROM webhooks WHERE webhook_id = ?1) AND starts_at >= ?2
   GROUP BY 1, duration_class`,
);
const deleteOld = statement<unknown, [startsUntil: number, max: number]>(
  "attempt-stats.delete-old",
  `DELETE FROM attempt_stats WHERE (webhook, starts_at, duration_class) IN
     (SELECT webhook, starts_at, duration_class FROM attempt_stats WHERE starts_at <= ? ORDER BY starts_at LIMIT ?)`,
);

/** Adds counts, within the transaction that settles the deliveries. */
export function addAttemptCounts(db: StateDatabase, counts: AttemptCounts): void {
  for (const { webhook, at, duration_class, attempts, delivered, failed } of counts)
    db.run(add, webhook, at, duration_class, attempts, delivered, failed);
}

export function readAttemptStats(
  db: StateDatabase,
  { webhookId, fromSecs, stepSecs }: StatsRequest,
): AttemptStats[] {
  return db.all(read, webhookId, fromSecs, stepSecs);
}

/** Deletes the counts of steps that ended before the retention of deliveries, also those of deleted webhooks. */
export function attemptStatsSweep(db: StateDatabase, clock: StateClock): SweepStep {
  return (maxRows) => {
    const startsUntil = clock.sweepableSecs() - DELIVERY_RETENTION_SECS - STATS_STEP_SECS;
    const deleted = db.run(deleteOld, startsUntil, maxRows);
    return { deleted, more: deleted === maxRows };
  };
}
