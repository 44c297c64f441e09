import type { PgQueries } from "../../../db/postgres/pool.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import type { StateClock } from "../../../db/state/state-clock.ts";
import type { Sweep } from "../../../db/state/sweep.ts";
import { type AttemptStats, STATS_STEP_SECS, type StatsRequest } from "../attempt-stats.ts";
import { DELIVERY_RETENTION_SECS } from "../delivery-log.ts";

/** `settle_deliveries_v1` counts the attempts. */
const read = pgStatement<AttemptStats, [webhookId: string, fromSecs: number, stepSecs: number]>(
  "attempt-stats.read",
  `SELECT a.starts_at - a.starts_at % $3 AS at, a.duration_class, sum(a.attempts)::bigint AS attempts,
     sum(a.delivered)::bigint AS delivered, sum(a.failed)::bigint AS failed
   FROM attempt_stats a WHERE a.webhook = (SELECT w.seq FROM webhooks w WHERE w.webhook_id = $1) AND a.starts_at >= $2
   GROUP BY 1, a.duration_class`,
);
const deleteOld = pgStatement<unknown, [startsUntil: number, max: number]>(
  "attempt-stats.delete-old",
  `DELETE FROM attempt_stats WHERE (webhook, starts_at, duration_class) IN (
     SELECT a.webhook, a.starts_at, a.duration_class FROM attempt_stats a WHERE a.starts_at <= $1
     ORDER BY a.starts_at LIMIT $2)`,
);

export async function readAttemptStats(
  db: PgQueries,
  { webhookId, fromSecs, stepSecs }: StatsRequest,
): Promise<AttemptStats[]> {
  return db.all(read, webhookId, fromSecs, stepSecs);
}

/** Deletes the counts of steps that ended before the retention of deliveries, also those of deleted webhooks. */
export function attemptStatsSweep(db: PgQueries, clock: StateClock): Sweep {
  return {
    name: "attempt_stats",
    async step(maxRows) {
      const startsUntil = clock.sweepableSecs() - DELIVERY_RETENTION_SECS - STATS_STEP_SECS;
      const deleted = await db.run(deleteOld, startsUntil, maxRows);
      return { deleted, more: deleted === maxRows };
    },
  };
}
