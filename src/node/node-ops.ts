import {
  AggregatorRegistry,
  Gauge,
  type MetricObjectWithValues,
  type MetricValue,
  type Registry,
} from "prom-client";
import type { StaleReason } from "../auth/staleness.ts";
import { ApiError } from "../http/errors.ts";
import type { MetricsPage, OpsProviders } from "../http/ops.ts";
import type { RpcClient } from "../lib/port-rpc.ts";
import type { Metrics } from "../runtime/metrics.ts";
import { setTimer } from "../runtime/set-timer.ts";
import { type PartStats, STATS_DEADLINE_MS } from "./part-stats.ts";

/**
 * The operator's endpoints are answered by whichever HTTP worker a request meets, for the node as a whole: it asks the
 * main thread, which knows the parts, and which gathers the figures of all HTTP workers.
 */
export type NodeRequest =
  | { readonly type: "ready"; readonly forState: boolean }
  | { readonly type: "stale" }
  | { readonly type: "status" }
  | { readonly type: "metrics" };

export type NodeResponse =
  | { readonly type: "ready"; readonly reason: string | undefined }
  | { readonly type: "stale"; readonly reason: string | undefined }
  | { readonly type: "status"; readonly status: Readonly<Record<string, unknown>> }
  | { readonly type: "metrics"; readonly page: MetricsPage };

/** How long an HTTP worker waits for the main thread, ms: longer than that waits for the parts. */
const NODE_DEADLINE_MS = 2 * STATS_DEADLINE_MS;

/** What an HTTP worker asks the main thread. */
export interface NodeOps extends OpsProviders {
  readonly staleReason: StaleReason;
}

/** Series of one worker, as they travel. */
export type WorkerMetrics = MetricObjectWithValues<MetricValue<string>>[];

/** What the main thread asks of an HTTP worker. */
export type HttpWorkerRequest = { readonly type: "collect" };

export async function handleNodeRequest(ops: NodeOps, request: NodeRequest): Promise<NodeResponse> {
  switch (request.type) {
    case "ready":
      return { type: "ready", reason: await ops.notReadyReason(request) };
    case "stale":
      return { type: "stale", reason: await ops.staleReason() };
    case "status":
      return { type: "status", status: await ops.status() };
    case "metrics":
      return { type: "metrics", page: await ops.metrics() };
  }
}

/** What the main thread knows, over the port to it. */
export function nodeOpsOver(client: RpcClient<NodeRequest, NodeResponse>): NodeOps {
  const ask = async <Type extends NodeRequest["type"]>(request: NodeRequest & { readonly type: Type }) => {
    const { type } = request;
    const answer = await inTime(client.call(request));
    if (answer.type !== type) throw new Error("the main thread answered another question");
    return answer as Extract<NodeResponse, { type: Type }>;
  };
  return {
    notReadyReason: async ({ forState }) => (await ask({ type: "ready", forState })).reason,
    staleReason: async () => (await ask({ type: "stale" })).reason,
    status: async () => (await ask({ type: "status" })).status,
    metrics: async () => (await ask({ type: "metrics" })).page,
  };
}

/** @throws ApiError `unavailable` when the main thread does not answer within `NODE_DEADLINE_MS`. */
async function inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  const late = Promise.withResolvers<never>();
  const cancel = setTimer(NODE_DEADLINE_MS, () =>
    late.reject(new ApiError("unavailable", "the main thread does not answer")),
  );
  return Promise.race([answer, late.promise]).finally(cancel);
}

/** The metrics of one part, which are only rendered when the part has answered. */
export interface PartMetrics {
  readonly stats: PartStats<unknown>;
  readonly registry: Registry;
}

/**
 * One page of the metrics of the process, of its parts, and of its HTTP workers, which all have different names. Counts of
 * requests are summed over the HTTP workers; what every worker reads out of the same place says so by its aggregator.
 *
 * A part that does not answer in time has no series, and `node_part_up` is 0 for it. An HTTP worker that does not answer
 * in time counts with what it said last, so that sums do not go down.
 */
export function createMetricsPage(
  { registry, prefix }: Metrics,
  parts: readonly PartMetrics[],
  httpWorkers: readonly PartStats<WorkerMetrics>[],
): () => Promise<MetricsPage> {
  const up = new Gauge({
    name: `${prefix}node_part_up`,
    help: "1 for a part of the node that answered this scrape in time, else 0.",
    labelNames: ["part"],
    registers: [registry],
  });
  return async () => {
    const ask = async (stats: PartStats<unknown>) => {
      const hasAnswered = (await stats.ask()) !== undefined;
      up.set({ part: stats.name }, hasAnswered ? 1 : 0);
      return hasAnswered;
    };
    const [ofParts] = await Promise.all([
      Promise.all(parts.map(async (part) => ((await ask(part.stats)) ? part.registry.metrics() : ""))),
      Promise.all(httpWorkers.map(ask)),
    ]);
    const latest = httpWorkers.flatMap((worker) => (worker.latest === undefined ? [] : [worker.latest]));
    const ofHttp = await AggregatorRegistry.aggregate(latest).metrics();
    const text = [await registry.metrics(), ...ofParts, ofHttp].filter((page) => page !== "").join("\n");
    return { text, contentType: registry.contentType };
  };
}
