import { Counter } from "prom-client";
import { type HistogramSeries, registerHistogram } from "../../runtime/figures/figure-metrics.ts";
import type { Metrics } from "../../runtime/figures/metrics.ts";

/** Counts a response. `route` is the template, so that the number of series is bounded. */
export type ObserveResponse = (method: string, route: string, status: number, seconds: number) => void;

const bucketBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Reports whether a path is part of the API. Requests that monitor a node do not count as its work. */
export function isApiPath(path: string): boolean {
  return path.startsWith("/v2/") || path.startsWith("/v1/");
}

/** Responses of the API, counted since the start. */
export interface HttpFigures {
  readonly requests: number;
  /** Responses with 4xx and with 5xx. */
  readonly clientErrors: number;
  readonly serverErrors: number;
  /** Responses with 501, which mean that something is not available. */
  readonly notImplemented: number;
  /** How often the worker has stopped accepting connections. */
  readonly acceptPauses: number;
  /** Upper bounds of the buckets. */
  readonly boundsSecs: readonly number[];
  /** Responses by duration, not cumulative; the last bucket counts those above every bound. */
  readonly buckets: readonly number[];
}

/** Before the first response. */
export const NO_RESPONSES: HttpFigures = {
  requests: 0,
  clientErrors: 0,
  serverErrors: 0,
  notImplemented: 0,
  acceptPauses: 0,
  boundsSecs: bucketBounds,
  buckets: new Array<number>(bucketBounds.length + 1).fill(0),
};

export interface HttpMetrics {
  readonly observe: ObserveResponse;
  figures(): HttpFigures;
  /** Counts that the worker has stopped accepting connections. */
  countPause(): void;
}

/** A client chooses the method, so all but the usual ones share one label. A HEAD counts as a GET. */
const METHOD_LABELS = new Map(
  ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].map((method) => [method, method]),
).set("HEAD", "GET");

/** Returns the label of a method, from a small set. */
export function methodLabel(method: string): string {
  return METHOD_LABELS.get(method) ?? "other";
}

/** Refused requests cost a client nothing, however many they are, so those of all routes share their series. */
const REFUSED = { method: "any", route: "refused" } as const;

const isRefusal = (status: number) => (status >= 400 && status < 500) || status === 501;

/** Counts of the responses of one route. */
interface Tally {
  readonly route: string;
  /** By method and status. */
  readonly counts: Map<string, Map<number, number>>;
  readonly durations: Durations;
}

/** Responses by duration. */
interface Durations {
  /** Not cumulative; the last bucket counts those above every bound. */
  readonly buckets: number[];
  sumSecs: number;
}

const noDurations = (): Durations => ({ buckets: [...NO_RESPONSES.buckets], sumSecs: 0 });

function addDuration(durations: Durations, seconds: number): void {
  let bucket = 0;
  while (bucket < bucketBounds.length && seconds > (bucketBounds[bucket] ?? Number.POSITIVE_INFINITY))
    bucket += 1;
  durations.buckets[bucket] = (durations.buckets[bucket] ?? 0) + 1;
  durations.sumSecs += seconds;
}

function seriesOf({ route, durations: { buckets, sumSecs } }: Tally): HistogramSeries {
  let count = 0;
  const cumulative = buckets.map((inBucket) => {
    count += inBucket;
    return count;
  });
  return { labels: { route }, cumulative, sum: sumSecs };
}

/**
 * Registers the metrics of the HTTP interface. Their series are bounded by the routes, whatever clients send. Responses are tallied here
 * and converted to series when the metrics are collected: prom-client hashes the labels at each observation, which took a tenth of the
 * time of a small request.
 */
export function createHttpMetrics({ registry, prefix }: Metrics): HttpMetrics {
  const tallies = new Map<string, Tally>();
  const ofApi = {
    requests: 0,
    clientErrors: 0,
    serverErrors: 0,
    notImplemented: 0,
    durations: noDurations(),
  };
  let acceptPauses = 0;

  function tallyOf(route: string): Tally {
    let tally = tallies.get(route);
    if (tally === undefined) {
      tally = { route, counts: new Map(), durations: noDurations() };
      tallies.set(route, tally);
    }
    return tally;
  }

  new Counter({
    name: `${prefix}http_requests_total`,
    help: 'HTTP requests that got a response; those that were refused have the route "refused"',
    labelNames: ["method", "route", "status"],
    registers: [registry],
    collect() {
      this.reset();
      for (const { route, counts } of tallies.values()) {
        for (const [method, byStatus] of counts)
          for (const [status, count] of byStatus) this.inc({ method, route, status }, count);
      }
    },
  });

  const pauses = new Counter({
    name: `${prefix}http_accept_pauses_total`,
    help: "Number of times an HTTP worker stopped accepting connections because too few descriptors were left",
    registers: [registry],
  });

  registerHistogram(registry, {
    name: `${prefix}http_request_duration_seconds`,
    help: "Time from the arrival of a request's headers to its response",
    bounds: bucketBounds,
    aggregator: "sum",
    read: () => [...tallies.values()].map(seriesOf),
  });

  return {
    countPause() {
      acceptPauses += 1;
      pauses.inc();
    },
    observe(method, route, status, seconds) {
      const isRefused = isRefusal(status);
      const { counts, durations } = tallyOf(isRefused ? REFUSED.route : route);
      const label = isRefused ? REFUSED.method : methodLabel(method);
      let byStatus = counts.get(label);
      if (byStatus === undefined) {
        byStatus = new Map();
        counts.set(label, byStatus);
      }
      byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
      addDuration(durations, seconds);
      if (!isApiPath(route)) return;
      ofApi.requests += 1;
      if (status >= 400 && status < 500) ofApi.clientErrors += 1;
      if (status >= 500) ofApi.serverErrors += 1;
      if (status === 501) ofApi.notImplemented += 1;
      addDuration(ofApi.durations, seconds);
    },
    figures: () => ({
      requests: ofApi.requests,
      clientErrors: ofApi.clientErrors,
      serverErrors: ofApi.serverErrors,
      notImplemented: ofApi.notImplemented,
      acceptPauses,
      boundsSecs: bucketBounds,
      buckets: [...ofApi.durations.buckets],
    }),
  };
}
