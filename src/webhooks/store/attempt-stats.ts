import { sql, sqlEach } from "../../db/state/sql.ts";
import type { Queries, StateDb, Sweep, Tx } from "../../db/state/state-db.ts";
import type { Settlement } from "./delivery-queue.ts";

/** Counts attempts by time and by duration. Durations are counted in classes, so that percentiles need no list of attempts. */

/** How long a finished delivery can be listed and replayed. */
export const DELIVERY_RETENTION_SECS = 7 * 86_400;

/** Length of the time steps in which attempts are counted. */
export const STATS_STEP_SECS = 300;
/** Classes per doubling of the duration, so a percentile is off by at most a tenth. */
const CLASSES_PER_DOUBLING = 4;
/** The class of the longest durations, over an hour. */
const MAX_CLASS = 88;

/** Attempts of one time step and one class of durations. */
export interface AttemptStats {
  /** Start of the step, unix seconds. */
  readonly at: number;
  readonly duration_class: number;
  readonly attempts: number;
  readonly delivered: number;
  readonly failed: number;
}

export interface StatsRequest {
  readonly webhookId: string;
  /** The start of a step. */
  readonly fromSecs: number;
  readonly stepSecs: number;
}

/** Attempts of a step, and the outcomes of the deliveries that ended with them. Durations are whole ms, null without attempts. */
export interface StatsBucket {
  readonly at: number;
  readonly delivered: number;
  readonly failed: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

/** Returns the start of the step that contains a time. */
export function statsStepOf(unixSecs: number, stepSecs = STATS_STEP_SECS): number {
  return unixSecs - (unixSecs % stepSecs);
}

export function durationClassOf(durationMs: number): number {
  if (durationMs <= 1) return 0;
  return Math.min(Math.ceil(Math.log2(durationMs) * CLASSES_PER_DOUBLING), MAX_CLASS);
}

/** Returns the duration that represents a class. */
function durationOf(durationClass: number): number {
  return durationClass === 0 ? 1 : Math.round(2 ** ((durationClass - 0.5) / CLASSES_PER_DOUBLING));
}

/** Returns the buckets from `fromSecs` up to the one of `untilSecs`, including those without attempts. */
export function bucketsOf(
  stats: readonly AttemptStats[],
  { fromSecs, untilSecs, stepSecs }: { fromSecs: number; untilSecs: number; stepSecs: number },
): StatsBucket[] {
  const byStep = Map.groupBy(stats, ({ at }) => at);
  const buckets: StatsBucket[] = [];
  for (let at = fromSecs; at <= untilSecs; at += stepSecs) {
    const classes = (byStep.get(at) ?? []).toSorted((a, b) => a.duration_class - b.duration_class);
    const sum = (field: "attempts" | "delivered" | "failed") =>
      classes.reduce((total, one) => total + one[field], 0);
    const percentile = (share: number): number | null => {
      let left = Math.ceil(sum("attempts") * share);
      const found = classes.find(({ attempts }) => {
        left -= attempts;
        return left <= 0;
      });
      return found ? durationOf(found.duration_class) : null;
    };
    buckets.push({
      at,
      delivered: sum("delivered"),
      failed: sum("failed"),
      p50Ms: percentile(0.5),
      p95Ms: percentile(0.95),
    });
  }
  return buckets;
}

/** A settlement whose process still held the lease. */
export interface Settled {
  readonly webhook: number;
  readonly settlement: Settlement;
  /** When its attempt ended, unix seconds. */
  readonly nowSecs: number;
}

const add = sqlEach<
  unknown,
  [
    webhook: number,
    startsAt: number,
    durationClass: number,
    attempts: number,
    delivered: number,
    failed: number,
  ]
>(
  "attempt-stats.add",
  `INSERT INTO attempt_stats AS a (webhook, starts_at, duration_class, attempts, delivered, failed)
   SELECT (t.value ->> 0)::bigint, (t.value ->> 1)::bigint, (t.value ->> 2)::integer, (t.value ->> 3)::bigint,
     (t.value ->> 4)::bigint, (t.value ->> 5)::bigint FROM rows($1) t WHERE true ORDER BY 1, 2, 3
   ON CONFLICT (webhook, starts_at, duration_class) DO UPDATE SET attempts = a.attempts + excluded.attempts,
     delivered = a.delivered + excluded.delivered, failed = a.failed + excluded.failed`,
);
const read = sql<AttemptStats, [webhookId: string, fromSecs: number, stepSecs: number]>(
  "attempt-stats.read",
  `SELECT a.starts_at - a.starts_at % $3 AS at, a.duration_class, sum(a.attempts)::bigint AS attempts,
     sum(a.delivered)::bigint AS delivered, sum(a.failed)::bigint AS failed
   FROM attempt_stats a WHERE a.webhook = (SELECT w.seq FROM webhooks w WHERE w.webhook_id = $1) AND a.starts_at >= $2
   GROUP BY 1, a.duration_class`,
);
const deleteOld = sql<unknown, [startsUntil: number, max: number]>(
  "attempt-stats.delete-old",
  `DELETE FROM attempt_stats WHERE (webhook, starts_at, duration_class) IN (
     SELECT a.webhook, a.starts_at, a.duration_class FROM attempt_stats a WHERE a.starts_at <= $1
     ORDER BY a.starts_at LIMIT $2)`,
);

/** Counts the attempts of settlements within their transaction, which holds the locks of their queues. */
export function countAttempts(tx: Tx, settled: readonly Settled[]): Promise<unknown> {
  const counts = new Map<string, [number, number, number, number, number, number]>();
  for (const { webhook, settlement, nowSecs } of settled) {
    const startsAt = statsStepOf(nowSecs);
    const durationClass = durationClassOf(settlement.attempt.durationMs);
    const key = `${webhook} ${startsAt} ${durationClass}`;
    const counted = counts.get(key) ?? [webhook, startsAt, durationClass, 0, 0, 0];
    counts.set(key, counted);
    const { kind } = settlement.verdict;
    counted[3] += 1;
    if (kind === "delivered") counted[4] += 1;
    else if (kind !== "retry") counted[5] += 1;
  }
  return tx.each(add, [...counts.values()]);
}

export function readAttemptStats(
  queries: Queries,
  { webhookId, fromSecs, stepSecs }: StatsRequest,
): Promise<AttemptStats[]> {
  return queries.all(read, webhookId, fromSecs, stepSecs);
}

/** Deletes the counts of steps that ended before the retention of deliveries, including those of deleted webhooks. */
export function attemptStatsSweep(db: StateDb): Sweep {
  return db.sweep("attempt_stats", (tx, maxRows) =>
    tx.run(deleteOld, tx.clock.sweepableSecs() - DELIVERY_RETENTION_SECS - STATS_STEP_SECS, maxRows),
  );
}
