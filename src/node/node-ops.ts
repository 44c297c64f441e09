import {
  AggregatorRegistry,
  Gauge,
  type MetricObjectWithValues,
  type MetricValue,
  type Registry,
} from "prom-client";
import type { StaleReason } from "../auth/owners/custody.ts";
import type { WebBuild } from "../console/web-build.ts";
import { ApiError } from "../http/errors.ts";
import type { HttpFigures } from "../http/metrics/http-metrics.ts";
import type { NotableResponse } from "../http/metrics/notable-requests.ts";
import type { MetricsPage, OpsProviders } from "../http/route/ops.ts";
import { connectRpc } from "../lib/port-rpc.ts";
import { oncePer } from "../lib/promises.ts";
import type { Metrics } from "../runtime/figures/metrics.ts";
import { type PartStats, STATS_DEADLINE_MS } from "./part-stats.ts";

/** How long a page of metrics is served. Making one costs the main thread milliseconds, and anybody may request it. */
const PAGE_MS = 1000;

/** How long an HTTP worker waits for the main thread, ms. Longer than the main thread waits for parts. */
const NODE_DEADLINE_MS = 2 * STATS_DEADLINE_MS;

/**
 * The methods of the main thread. The operator's endpoints describe the whole node, but any HTTP worker may receive the request. The
 * worker calls the main thread, which has clients of all parts and gathers the metrics of all HTTP workers.
 */
export interface NodeOps extends OpsProviders {
  readonly staleReason: StaleReason;
}

/** The series of one worker, in a form that can be sent between threads. */
export type WorkerMetrics = MetricObjectWithValues<MetricValue<string>>[];

/** The methods of an HTTP worker. */
export interface HttpWorkerRpc {
  metrics(): Promise<WorkerMetrics>;
  /** See `HttpServer`. */
  figures(): HttpFigures;
  /** See `HttpServer`. */
  takeRequests(): readonly NotableResponse[];
  /** See `HttpServer`. Ends streams, spread over this time. */
  drain(ms: number): void;
  /** Returns the files of the console, which the first worker loads for all. */
  webBuild(): Promise<WebBuild>;
}

/**
 * Returns the client of the main thread over its port. Its methods throw an ApiError `unavailable` if the main thread does not respond
 * within `NODE_DEADLINE_MS`.
 */
export function connectNodeOps(port: MessagePort): NodeOps {
  return connectRpc<NodeOps>(port, {
    timeoutMs: NODE_DEADLINE_MS,
    timeoutError: () => new ApiError("unavailable", "the main thread does not respond"),
  });
}

/** The metrics of one part. They are rendered only when the part has responded. */
export interface PartMetrics {
  readonly stats: PartStats<unknown>;
  readonly registry: Registry;
}

/**
 * Builds one page with the metrics of the process, its parts and its HTTP workers. Their names are disjoint. Request counts are summed
 * over the HTTP workers. A metric that every worker reads from the same source declares that by its aggregator.
 *
 * A part that does not respond in time has no series, and its `node_part_up` is 0. If an HTTP worker does not respond in time, its
 * previous series are used, so that sums do not decrease.
 *
 * @returns a function that builds a page at most once a second.
 */
export function createMetricsPage(
  { registry, prefix }: Metrics,
  parts: readonly PartMetrics[],
  httpWorkers: readonly PartStats<WorkerMetrics>[],
  monotonicMs?: () => number,
): () => Promise<MetricsPage> {
  const up = new Gauge({
    name: `${prefix}node_part_up`,
    help: "1 for a part of the node that responded to this scrape in time, else 0.",
    labelNames: ["part"],
    registers: [registry],
  });
  return oncePer(
    PAGE_MS,
    async () => {
      const poll = async (stats: PartStats<unknown>) => {
        const hasResponded = (await stats.request()) !== undefined;
        up.set({ part: stats.name }, hasResponded ? 1 : 0);
        return hasResponded;
      };
      const [ofParts] = await Promise.all([
        Promise.all(parts.map(async (part) => ((await poll(part.stats)) ? part.registry.metrics() : ""))),
        Promise.all(httpWorkers.map(poll)),
      ]);
      const latest = httpWorkers.flatMap((worker) => (worker.latest === undefined ? [] : [worker.latest]));
      const ofHttp = await AggregatorRegistry.aggregate(latest).metrics();
      const text = [await registry.metrics(), ...ofParts, ofHttp].filter((page) => page !== "").join("\n");
      return { text, contentType: registry.contentType };
    },
    monotonicMs,
  );
}
