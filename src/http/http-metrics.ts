import { Counter } from "prom-client";
import { type HistogramSeries, registerHistogram } from "../runtime/histogram.ts";
import type { Metrics } from "../runtime/metrics.ts";

/** Counts a response. `route` is the template, so that the number of series is bounded. */
export type ObserveResponse = (method: string, route: string, status: number, seconds: number) => void;

const bucketBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Paths of the API. What watches a node does not count as its work. */
const apiPath = /^\/v[12]\//;

/** Responses of the API, counted since the start. */
export interface HttpFigures {
  readonly requests: number;
  /** Responses with 4xx and with 5xx. */
  readonly clientErrors: number;
  readonly serverErrors: number;
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
  boundsSecs: bucketBounds,
  buckets: new Array<number>(bucketBounds.length + 1).fill(0),
};

export interface HttpMetrics {
  readonly observe: ObserveResponse;
  figures(): HttpFigures;
}

/** A client chooses the method, so all but the usual ones share one label. */
const labelledMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Counts of the responses of one route to one method. */
interface Tally {
  readonly method: string;
  readonly route: string;
  readonly byStatus: Map<number, number>;
  /** Responses per bucket, not cumulative; the last bucket counts those above every bound. */
  readonly buckets: number[];
  sumSecs: number;
}

function tallyOf(tallies: Map<string, Map<string, Tally>>, method: string, route: string): Tally {
  let byMethod = tallies.get(route);
  if (byMethod === undefined) {
    byMethod = new Map();
    tallies.set(route, byMethod);
  }
  const label = labelledMethods.has(method) ? method : "other";
  let tally = byMethod.get(label);
  if (tally === undefined) {
    const buckets = new Array<number>(bucketBounds.length + 1).fill(0);
    tally = { method: label, route, byStatus: new Map(), buckets, sumSecs: 0 };
    byMethod.set(label, tally);
  }
  return tally;
}

function seriesOf({ method, route, buckets, sumSecs }: Tally): HistogramSeries {
  let count = 0;
  const cumulative = buckets.map((inBucket) => {
    count += inBucket;
    return count;
  });
  return { labels: { method, route }, cumulative, sum: sumSecs };
}

/**
 * Registers the metrics of the HTTP interface. Responses are tallied here and converted to series when the metrics
 * are collected: prom-client hashes the labels at each observation, which took a tenth of the time of a small
 * request.
 */
export function createHttpMetrics({ registry, prefix }: Metrics): HttpMetrics {
  const tallies = new Map<string, Map<string, Tally>>();
  const all = () => [...tallies.values()].flatMap((byMethod) => [...byMethod.values()]);

  new Counter({
    name: `${prefix}http_requests_total`,
    help: "HTTP requests that got a response",
    labelNames: ["method", "route", "status"],
    registers: [registry],
    collect() {
      this.reset();
      for (const { method, route, byStatus } of all()) {
        for (const [status, count] of byStatus) this.inc({ method, route, status }, count);
      }
    },
  });

  registerHistogram(registry, {
    name: `${prefix}http_request_duration_seconds`,
    help: "Time from the arrival of a request's headers to its response",
    bounds: bucketBounds,
    aggregator: "sum",
    read: () => all().map(seriesOf),
  });

  return {
    observe(method, route, status, seconds) {
      const tally = tallyOf(tallies, method, route);
      tally.byStatus.set(status, (tally.byStatus.get(status) ?? 0) + 1);
      tally.sumSecs += seconds;
      let bucket = 0;
      while (bucket < bucketBounds.length && seconds > (bucketBounds[bucket] ?? Number.POSITIVE_INFINITY))
        bucket += 1;
      tally.buckets[bucket] = (tally.buckets[bucket] ?? 0) + 1;
    },
    figures: () => figuresOf(all().filter(({ route }) => apiPath.test(route))),
  };
}

function figuresOf(tallies: readonly Tally[]): HttpFigures {
  const ofStatus = (from: number, below: number) => {
    const counts = tallies.flatMap(({ byStatus }) => [...byStatus]);
    return counts.reduce((sum, [status, count]) => (status >= from && status < below ? sum + count : sum), 0);
  };
  const buckets = new Array<number>(bucketBounds.length + 1).fill(0);
  for (const tally of tallies)
    for (const [at, count] of tally.buckets.entries()) buckets[at] = (buckets[at] ?? 0) + count;
  return {
    requests: ofStatus(0, 1000),
    clientErrors: ofStatus(400, 500),
    serverErrors: ofStatus(500, 600),
    boundsSecs: bucketBounds,
    buckets,
  };
}
