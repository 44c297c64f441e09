import { type Bucket, buckets, callsIn, MEASURES, percentile } from "./measures.ts";
import type { Sample, SoakRun } from "./samples.ts";

/** Whether a node is in the same condition at the end as after it had warmed up. */
export interface Verdict {
  readonly passed: boolean;
  readonly startedAt: string;
  readonly version: string;
  readonly hours: number;
  readonly warmUpSecs: number;
  readonly windowSecs: number;
  readonly figures: readonly VerdictFigure[];
  /** Growth of resident memory after the warm-up, by least squares. */
  readonly memoryGrowthPerHour: number;
  readonly failed: Readonly<Record<string, number>>;
  readonly failedShare: number;
}

export interface VerdictFigure {
  readonly name: string;
  readonly unit: string;
  /** The value in the window after the warm-up, and in the last window. */
  readonly first: number;
  readonly last: number;
  readonly passed: boolean;
}

/** Data that is kept for an hour has reached its full size before this, in a run of two hours or more. */
const WARM_UP_SHARE = 0.5;
const WINDOW_SHARE = 1 / 8;
const BUCKETS_PER_WINDOW = 12;
const MIN_BUCKETS = 4;
const MAX_GROWTH = 1.1;
/** Minimum difference for counts such as that of descriptors: one more connection is not growth. */
const MIN_GROWTH = 2;
/** Maximum share of unexpected failures. */
const MAX_FAILED_SHARE = 0.001;
const BYTES_PER_MB = 1e6;

/**
 * Compares the last window of a run with the first one after the warm-up: nothing may be more than 10 % higher. Latencies
 * and CPU times are ratios to a bare server that was called alternately, because the machine may have other work.
 *
 * @throws Error for a run that is too short to have windows.
 */
export function evaluate({ start, samples }: SoakRun): Verdict {
  const endSecs = samples.at(-1)?.atSecs ?? 0;
  const warmUpSecs = endSecs * WARM_UP_SHARE;
  const windowSecs = endSecs * WINDOW_SHARE;
  const bucketSecs = Math.max(start.sampleSecs, windowSecs / BUCKETS_PER_WINDOW);
  const all = buckets(samples, bucketSecs);
  if (all.length < MIN_BUCKETS) throw new Error(`a run of ${endSecs} seconds is too short for a verdict`);
  const between = (from: number, to: number) => {
    const found = all.filter(({ atSecs }) => atSecs >= from && atSecs <= to);
    const distance = ({ atSecs }: Bucket) => Math.abs(atSecs - (from + to) / 2);
    // On a busy machine, a short run may have no sample in a window.
    return found.length > 0 ? found : [...all].sort((a, b) => distance(a) - distance(b)).slice(0, 1);
  };
  const windows = {
    first: between(warmUpSecs, warmUpSecs + windowSecs),
    last: between(endSecs - windowSecs, endSecs + bucketSecs),
  };
  const figures = MEASURES.map(({ name, unit, of, over }): VerdictFigure => {
    const inWindow = (which: keyof typeof windows) => {
      const values = windows[which]
        .map((bucket) => of(bucket.samples, bucket.before))
        .filter((value) => Number.isFinite(value));
      return over === "max" ? Math.max(...values) : percentile(values, over === "median" ? 0.5 : 0.25);
    };
    const [first, last] = [inWindow("first"), inWindow("last")];
    const isCount = unit === "";
    return {
      name,
      unit,
      first,
      last,
      passed: last <= first * MAX_GROWTH || (isCount && last <= first + MIN_GROWTH),
    };
  });
  const { failed, failedShare } = failures(samples);
  return {
    passed: figures.every(({ passed }) => passed) && failedShare <= MAX_FAILED_SHARE,
    startedAt: start.startedAt,
    version: start.version,
    hours: endSecs / 3600,
    warmUpSecs,
    windowSecs,
    figures,
    memoryGrowthPerHour: growthPerHour(samples.filter(({ atSecs }) => atSecs >= warmUpSecs)),
    failed,
    failedShare,
  };
}

function failures(samples: readonly Sample[]): Pick<Verdict, "failed" | "failedShare"> {
  const failed: Record<string, number> = {};
  let [bad, good] = [0, 0];
  for (const sample of samples) {
    for (const [what, count] of Object.entries(sample.failed)) {
      failed[what] = (failed[what] ?? 0) + count;
      bad += count;
    }
    good += callsIn([sample]);
  }
  return { failed, failedShare: bad / Math.max(1, bad + good) };
}

/** Returns the growth in bytes per hour, by least squares. */
function growthPerHour(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number) =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const hoursOf = (sample: Sample) => sample.atSecs / 3600;
  const [meanHours, meanBytes] = [mean(hoursOf), mean(({ node }) => node.rssBytes)];
  const covariance = mean((sample) => (hoursOf(sample) - meanHours) * (sample.node.rssBytes - meanBytes));
  return covariance / mean((sample) => (hoursOf(sample) - meanHours) ** 2);
}

/** Returns a table for a terminal. */
export function verdictTable(verdict: Verdict): string {
  const { figures, warmUpSecs, windowSecs, hours, memoryGrowthPerHour, failed, failedShare } = verdict;
  const rows = figures.map(({ name, unit, first, last, passed }) =>
    [
      `  ${name.padEnd(30)}`,
      shown(first).padStart(9),
      shown(last).padStart(9),
      `${(last / first).toFixed(2)}`.padStart(6),
      passed ? "  " : " !",
      unit,
    ].join(" "),
  );
  const minutes = (secs: number) => (secs / 60).toFixed(0);
  return [
    `${hours.toFixed(2)} hours; windows of ${minutes(windowSecs)} minutes, the first behind ${minutes(warmUpSecs)} minutes of warm-up`,
    `  ${"".padEnd(30)} ${"first".padStart(9)} ${"last".padStart(9)}  ratio`,
    ...rows,
    `  memory grows by ${(memoryGrowthPerHour / BYTES_PER_MB).toFixed(1)} MB an hour behind the warm-up`,
    `  failed calls: ${(failedShare * 100).toFixed(3)} %`,
    ...Object.entries(failed).map(([what, count]) => `    ${count} ${what}`),
    verdict.passed ? "passed" : "FAILED",
  ].join("\n");
}

function shown(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}
