import { figureOf } from "../../runtime/figures/figures.ts";
import { type HttpFigures, NO_RESPONSES } from "./http-metrics.ts";

const figure = figureOf<HttpFigures>();

const quantile = (fraction: number) => (before: HttpFigures, after: HttpFigures) =>
  quantileMs(after.boundsSecs, bucketsBetween(before, after), fraction);

/** The responses of all HTTP workers for the history. Their metrics are summed over the workers. */
export const httpFigures = [
  figure({
    read: ({ requests }) => requests,
    history: {
      series: "requests_per_second",
      minute: "mean",
      rate: 1,
      plot: { title: "Requests per second", label: "requests", unit: "rate" },
    },
  }),
  figure({
    read: (now) => now,
    history: {
      series: "p50_ms",
      minute: "mean",
      between: quantile(0.5),
      plot: { title: "Response time", label: "median", unit: "ms" },
    },
  }),
  figure({
    read: (now) => now,
    history: {
      series: "p99_ms",
      minute: "max",
      between: quantile(0.99),
      plot: { title: "Response time", label: "p99", unit: "ms" },
    },
  }),
  figure({
    read: ({ clientErrors }) => clientErrors,
    history: {
      series: "refused_per_minute",
      minute: "mean",
      rate: 60,
      plot: { title: "4xx and 5xx per minute", label: "refused (4xx)", unit: "rate" },
    },
  }),
  figure({
    // Like in the alert, 501 is excluded: it means that something is not available, and any visitor can request that.
    read: ({ serverErrors, notImplemented }) => serverErrors - notImplemented,
    history: {
      series: "errors_per_minute",
      minute: "mean",
      rate: 60,
      plot: { title: "4xx and 5xx per minute", label: "errors (5xx)", unit: "rate" },
    },
    lane: { name: "errors", of: (count) => ({ "5xx": count }) },
  }),
];

/** Sums up the responses of several workers. */
export function summedFigures(figures: readonly HttpFigures[]): HttpFigures {
  return figures.reduce(
    (all, one) => ({
      requests: all.requests + one.requests,
      clientErrors: all.clientErrors + one.clientErrors,
      serverErrors: all.serverErrors + one.serverErrors,
      notImplemented: all.notImplemented + one.notImplemented,
      acceptPauses: all.acceptPauses + one.acceptPauses,
      boundsSecs: all.boundsSecs,
      buckets: all.buckets.map((count, at) => count + (one.buckets[at] ?? 0)),
    }),
    NO_RESPONSES,
  );
}

/** Returns the responses between two readings, by bucket of their duration. */
function bucketsBetween(before: HttpFigures, after: HttpFigures): number[] {
  return after.buckets.map((count, at) => Math.max(0, count - (before.buckets[at] ?? 0)));
}

/**
 * Estimates a quantile of durations in buckets, in ms; undefined without any. Durations are assumed to be evenly distributed within a
 * bucket; for those above the last bound only the bound is known.
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
