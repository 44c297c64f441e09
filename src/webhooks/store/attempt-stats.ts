/** Counts of attempts by time and by duration. Durations are counted in classes, so that percentiles need no list of attempts. */

/** Length of the steps of time that attempts are counted in. */
export const STATS_STEP_SECS = 300;
/** Classes for each doubling of a duration: a percentile is off by a tenth at most. */
const CLASSES_PER_DOUBLING = 4;
/** The class of the longest durations, over an hour. */
const MAX_CLASS = 88;

/** Attempts of one step of time and one class of durations. */
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

/** Attempts, and the outcomes of the deliveries that ended with one. Durations are whole ms, null without attempts. */
export interface StatsBucket {
  readonly at: number;
  readonly delivered: number;
  readonly failed: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

/** Returns the start of the step in which a time lies. */
export function statsStepOf(unixSecs: number, stepSecs = STATS_STEP_SECS): number {
  return unixSecs - (unixSecs % stepSecs);
}

export function durationClassOf(durationMs: number): number {
  if (durationMs <= 1) return 0;
  return Math.min(Math.ceil(Math.log2(durationMs) * CLASSES_PER_DOUBLING), MAX_CLASS);
}

/** The duration that stands for those of a class. */
function durationOf(durationClass: number): number {
  return durationClass === 0 ? 1 : Math.round(2 ** ((durationClass - 0.5) / CLASSES_PER_DOUBLING));
}

/** Returns the buckets from `fromSecs` up to the one of `untilSecs`, also those without attempts. */
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
