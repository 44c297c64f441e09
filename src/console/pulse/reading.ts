import type { HttpFigures } from "../../http/http-metrics.ts";
import { type Figures, SERIES_NAMES, type SeriesName } from "./series.ts";

/** What the parts of the node report at one moment. Counts grow since the start of the process. */
export interface Reading {
  /** Reading of a monotonic clock, ms. */
  readonly atMs: number;
  /** Of all HTTP workers. */
  readonly http: HttpFigures;
  readonly merged: number | undefined;
  readonly deliveryAttempts: number | undefined;
  readonly pushes: number | undefined;
  /** CPU time of the process, ms. */
  readonly cpuMs: number;
  /** Figures that hold for the moment. */
  readonly now: Figures;
}

/** The figures of the time between two readings. */
export function figuresBetween(before: Reading, after: Reading): Figures {
  const seconds = (after.atMs - before.atMs) / 1000;
  const perSecond = (from: number | undefined, to: number | undefined) =>
    // A part that has not responded has no count, and one that began again counts from 0.
    from === undefined || to === undefined || to < from || seconds <= 0 ? undefined : (to - from) / seconds;
  const perMinute = (from: number, to: number) => {
    const rate = perSecond(from, to);
    return rate === undefined ? undefined : rate * 60;
  };
  const buckets = bucketsBetween(before.http, after.http);
  const rates = {
    requests_per_second: perSecond(before.http.requests, after.http.requests),
    errors_per_minute: perMinute(before.http.serverErrors, after.http.serverErrors),
    refused_per_minute: perMinute(before.http.clientErrors, after.http.clientErrors),
    p50_ms: quantileMs(after.http.boundsSecs, buckets, 0.5),
    p99_ms: quantileMs(after.http.boundsSecs, buckets, 0.99),
    merged_per_second: perSecond(before.merged, after.merged),
    deliveries_per_second: perSecond(before.deliveryAttempts, after.deliveryAttempts),
    pushes_per_second: perSecond(before.pushes, after.pushes),
    cpu_percent: perSecond(before.cpuMs, after.cpuMs),
  } satisfies Partial<Record<SeriesName, number | undefined>>;
  const figures: Partial<Record<SeriesName, number>> = { ...after.now };
  for (const name of SERIES_NAMES) {
    const rate = (rates as Partial<Record<SeriesName, number | undefined>>)[name];
    if (rate !== undefined) figures[name] = rate;
  }
  // Milliseconds of CPU time in a second are tenths of a percent.
  if (figures.cpu_percent !== undefined) figures.cpu_percent /= 10;
  return figures;
}

/** The responses between two readings by bucket of their duration. */
export function bucketsBetween(before: HttpFigures, after: HttpFigures): number[] {
  return after.buckets.map((count, at) => Math.max(0, count - (before.buckets[at] ?? 0)));
}

/**
 * Estimates a quantile of durations in buckets, ms; undefined without any. Within a bucket durations count as evenly spread; of those
 * above the last bound only the bound is known.
 */
export function quantileMs(
  boundsSecs: readonly number[],
  buckets: readonly number[],
  quantile: number,
): number | undefined {
  const total = buckets.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  const rank = quantile * total;
  let below = 0;
  for (const [at, count] of buckets.entries()) {
    const upper = boundsSecs[at];
    if (below + count < rank || count === 0) {
      below += count;
      continue;
    }
    const lower = boundsSecs[at - 1] ?? 0;
    if (upper === undefined) return lower * 1000;
    return (lower + ((rank - below) / count) * (upper - lower)) * 1000;
  }
  return (boundsSecs.at(-1) ?? 0) * 1000;
}
