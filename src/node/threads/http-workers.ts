import type { Admission } from "../../admission/admission.ts";
import { httpWorkersOf } from "../../config/http-workers.ts";
import type { Config } from "../../config/schema.ts";
import { confirmsEvents } from "../../config/upstream-urls.ts";
import type { ConsoleRpc } from "../../console/console-rpc.ts";
import type { DemoRpc, DemoServices } from "../../console/demo/services.ts";
import type { CommitSequence } from "../../db/index/log/commit-sequence.ts";
import type { HttpFigures } from "../../http/metrics/http-metrics.ts";
import type { NotableResponse } from "../../http/metrics/notable-requests.ts";
import { connectRpc, type RpcClient, serveRpc } from "../../lib/port-rpc.ts";
import type { Metrics } from "../../runtime/figures/metrics.ts";
import type { RecentLines } from "../../runtime/log/recent-lines.ts";
import type { StreamSlots } from "../../stream/slots.ts";
import {
  createMetricsPage,
  type HttpWorkerRpc,
  type NodeOps,
  type PartMetrics,
  type WorkerMetrics,
} from "../node-ops.ts";
import { PartStats } from "../part-stats.ts";
import type { DamageReports } from "../watch/storage-watch.ts";
import { workerUrl } from "../worker-urls.ts";
import type { HttpWorkerInit } from "../workers/http.worker.ts";
import type { NodeWorkers } from "./node-workers.ts";
import type { Threads } from "./threads.ts";
import { startWorker, WorkerChannels, type WorkerHandle } from "./worker-handle.ts";

/** Starts the configured number of HTTP workers. The first one binds the port, and the others share it. */
export function startHttpWorkers(
  config: Config,
  deps: {
    readonly ops: Omit<NodeOps, "metrics">;
    readonly metrics: Metrics;
    /** The metrics of the other parts. */
    readonly partMetrics: readonly PartMetrics[];
    /** The commits of the index writer. */
    readonly commits: CommitSequence;
    readonly fanOut: WorkerChannels;
    readonly delivery: WorkerChannels;
    readonly hub: WorkerChannels;
    readonly ingest: WorkerChannels;
    readonly matching: WorkerChannels;
    readonly ranking: WorkerChannels;
    readonly streamSlots: StreamSlots;
    /** Undefined without a demo network. */
    readonly demo: Pick<DemoServices, "rpc" | "targets"> | undefined;
    /** Undefined while previews are off. */
    readonly previews: { readonly thread: WorkerChannels; readonly signal: SharedArrayBuffer } | undefined;
    readonly writes: WorkerChannels;
    readonly upstream: WorkerChannels;
    /** The keys from which tokens of approval links are derived; empty without a master key. */
    readonly tokenKeys: readonly Uint8Array[];
    readonly connectState: NodeWorkers["connectState"];
    /** The main thread's data for the console; undefined while it is off. */
    readonly console: ConsoleRpc | undefined;
    /** The figures of each worker are added to it. */
    readonly figures: PartStats<HttpFigures>[];
    /** Each worker is added to it. */
    readonly threads: Pick<Threads, "add">;
    readonly lines: RecentLines;
    readonly damage: Pick<DamageReports, "note">;
    /** The port on which another thread listens until the workers do; undefined if none does. */
    readonly startingPort: number | undefined;
    readonly admission: Admission;
    readonly spanCounts: SharedArrayBuffer | undefined;
    readonly onCrash: (message: string) => void;
  },
) {
  const { ops, metrics, partMetrics, commits, fanOut, delivery, hub, writes, connectState, onCrash } = deps;
  const { ingest, matching, streamSlots, demo, threads, lines, admission } = deps;
  const count = httpWorkersOf(config.http);
  const sharesPort = count > 1 || deps.startingPort !== undefined;
  const stats: PartStats<WorkerMetrics>[] = [];
  const clients: RpcClient<HttpWorkerRpc>[] = [];
  const nodeOps: NodeOps = { ...ops, metrics: createMetricsPage(metrics, partMetrics, stats) };

  /** The channels of the first worker, once it has started. */
  let firstChannels: WorkerChannels | undefined;
  const start = (port: number): WorkerHandle => {
    const { port1: opsPort, port2: node } = new MessageChannel();
    serveRpc<NodeOps>(opsPort, nodeOps);
    const consoleLink = deps.console && new MessageChannel();
    if (deps.console && consoleLink) serveRpc<ConsoleRpc>(consoleLink.port1, deps.console);
    const { port1: countPort, port2: slotsPort } = new MessageChannel();
    serveRpc<StreamSlots>(countPort, {
      take: (request) => streamSlots.take(request),
      change: (slot, cost) => streamSlots.change(slot, cost),
      release: (slot) => streamSlots.release(slot),
    });
    const services = demo && new MessageChannel();
    if (demo && services) serveRpc<DemoRpc>(services.port1, demo.rpc);
    const init: HttpWorkerInit = {
      config: { ...config, http: { ...config.http, port } },
      node,
      console: consoleLink?.port2,
      fanOut: fanOut.connect(),
      delivery: delivery.connect(),
      hub: hub.connect(),
      ingest: ingest.connect(),
      matching: { live: matching.connect(), replays: matching.connect() },
      ranking: deps.ranking.connect(),
      streamSlots: slotsPort,
      demo: demo && services && { services: services.port2, targets: demo.targets },
      previews: deps.previews && {
        thread: deps.previews.thread.connect(),
        signal: deps.previews.signal,
      },
      writes: writes.connect(),
      tokenKeys: deps.tokenKeys,
      commits: commits.shared,
      admission: admission.shared,
      spanCounts: deps.spanCounts,
      state: connectState(),
      upstream: confirmsEvents(config) ? deps.upstream.connect() : undefined,
      firstWorker: firstChannels?.connect(),
      sharesPort,
    };
    const name = `http_${stats.length + 1}`;
    const worker = startWorker({
      name: "http",
      url: workerUrl("http"),
      init,
      keepLine: (line) => lines.add(name, line),
      onDamage: deps.damage.note,
      onCrash,
    });
    threads.add(name, worker);
    const channels = new WorkerChannels();
    firstChannels ??= channels;
    const client = connectRpc<HttpWorkerRpc>(channels.connect());
    clients.push(client);
    stats.push(new PartStats(name, () => client.metrics()));
    deps.figures.push(new PartStats(name, () => client.figures()));
    return channels.attach(worker);
  };

  const first = start(deps.startingPort ?? config.http.port);
  const workers = [first];
  const openAll = async () => {
    const { url, port } = await first.ready;
    while (workers.length < count) workers.push(start(Number(port)));
    await Promise.all(workers.map(({ ready }) => ready));
    return String(url);
  };
  return {
    /** Resolves when all workers accept connections. */
    url: openAll(),
    /** Makes clients close their connections after their next response and ends streams, spread over this time. */
    async drain(ms: number): Promise<void> {
      await Promise.all(clients.map((client) => client.drain(ms)));
    },
    /** Takes the requests that the workers have noted. */
    async takeRequests(): Promise<readonly NotableResponse[]> {
      const taken = await Promise.allSettled(clients.map((client) => client.takeRequests()));
      return taken.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    },
    /** Stops accepting connections and waits for accepted requests. */
    async stop(): Promise<void> {
      await Promise.all(workers.map((worker) => worker.stop()));
    },
  };
}
