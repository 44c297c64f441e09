import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from "prom-client";
import type { StaleReason } from "../auth/staleness.ts";
import type { MetricsPage, OpsProviders } from "../http/ops.ts";
import type { RpcClient } from "../lib/port-rpc.ts";
import type { Metrics } from "../process/metrics.ts";

/**
 * The operator's endpoints are answered by whichever HTTP worker a request meets, for the node as a whole: it asks the
 * main thread, which knows the parts, and which gathers the figures of all HTTP workers.
 */
export type NodeRequest =
  | { readonly type: "ready" }
  | { readonly type: "stale" }
  | { readonly type: "status" }
  | { readonly type: "metrics" };

export type NodeAnswer =
  | { readonly type: "ready"; readonly reason: string | undefined }
  | { readonly type: "stale"; readonly reason: string | undefined }
  | { readonly type: "status"; readonly status: Readonly<Record<string, unknown>> }
  | { readonly type: "metrics"; readonly page: MetricsPage };

/** What an HTTP worker asks the main thread. */
export interface NodeOps extends OpsProviders {
  readonly staleReason: StaleReason;
}

/** Series of one worker, as they travel. */
export type WorkerMetrics = MetricObjectWithValues<MetricValue<string>>[];

/** What the main thread asks of an HTTP worker. */
export type HttpWorkerRequest = { readonly type: "collect" };

export async function handleNodeRequest(ops: NodeOps, request: NodeRequest): Promise<NodeAnswer> {
  switch (request.type) {
    case "ready":
      return { type: "ready", reason: await ops.notReadyReason() };
    case "stale":
      return { type: "stale", reason: await ops.staleReason() };
    case "status":
      return { type: "status", status: await ops.status() };
    case "metrics":
      return { type: "metrics", page: await ops.metrics() };
  }
}

/** What the main thread knows, over the port to it. */
export function nodeOpsOver(client: RpcClient<NodeRequest, NodeAnswer>): NodeOps {
  const ask = async <Type extends NodeRequest["type"]>(type: Type) => {
    const answer = await client.call({ type });
    if (answer.type !== type) throw new Error("the main thread answered another question");
    return answer as Extract<NodeAnswer, { type: Type }>;
  };
  return {
    notReadyReason: async () => (await ask("ready")).reason,
    staleReason: async () => (await ask("stale")).reason,
    status: async () => (await ask("status")).status,
    metrics: async () => (await ask("metrics")).page,
  };
}

/**
 * One page of the process's own figures and those of its HTTP workers, which have other names. Counts of requests are
 * summed; what every worker reads out of the same place says so by its aggregator.
 */
export async function gatherMetrics(
  { registry }: Metrics,
  workers: readonly RpcClient<HttpWorkerRequest, WorkerMetrics>[],
): Promise<MetricsPage> {
  const [own, ...collected] = await Promise.all([
    registry.metrics(),
    ...workers.map((worker) => worker.call({ type: "collect" })),
  ]);
  const ofWorkers = await AggregatorRegistry.aggregate(collected).metrics();
  return { text: `${own}\n${ofWorkers}`, contentType: registry.contentType };
}
