import { Gauge } from "prom-client";
import type { Admission } from "../../admission/admission.ts";
import { registerAdmissionMetrics } from "../../admission/admission-metrics.ts";
import { httpWorkersOf } from "../../config/http-workers.ts";
import type { Config } from "../../config/schema.ts";
import type { ConsoleRpc } from "../../console/console-rpc.ts";
import type { DemoDesk, DemoDeskRpc } from "../../console/demo/desk.ts";
import type { CommitSequence } from "../../db/index/commit-sequence.ts";
import type { HttpFigures } from "../../http/http-metrics.ts";
import type { UnsentBytes } from "../../http/unsent-bytes.ts";
import { connectRpc, type RpcClient, serveRpc } from "../../lib/port-rpc.ts";
import type { Metrics } from "../../runtime/metrics.ts";
import type { RecentLines } from "../../runtime/recent-lines.ts";
import type { StreamSlots } from "../../stream/slots.ts";
import type { Threads } from "../console/threads.ts";
import type { DamageReports } from "../damage-reports.ts";
import {
  createMetricsPage,
  type HttpWorkerRpc,
  type NodeOps,
  type PartMetrics,
  type WorkerMetrics,
} from "../node-ops.ts";
import { PartStats } from "../part-stats.ts";
import { workerUrls } from "../worker-urls.ts";
import type { HttpWorkerInit } from "./http.worker.ts";
import type { NodeWorkers } from "./node-workers.ts";
import { startWorker, WorkerChannels, type WorkerHandle } from "./worker-handle.ts";

/** The HTTP workers, which share one port. */
export interface HttpWorkers {
  /** Resolves when all workers accept connections. */
  readonly url: Promise<string>;
  /** Has clients close their connections after their next response, and ends streams, spread over the time. */
  drain(ms: number): Promise<void>;
  /** Stops accepting and waits for accepted requests. */
  stop(): Promise<void>;
}

/** Starts the configured number of HTTP workers. The first one binds the port, and the others share it. */
export function startHttpWorkers(
  config: Config,
  deps: {
    readonly ops: Omit<NodeOps, "metrics">;
    readonly metrics: Metrics;
    /** The metrics of the other parts. */
    readonly partMetrics: readonly PartMetrics[];
    /** The commits of the writer of the index. */
    readonly commits: CommitSequence;
    readonly fanOut: WorkerChannels;
    readonly delivery: WorkerChannels;
    readonly hub: WorkerChannels;
    readonly ingest: WorkerChannels;
    readonly matching: WorkerChannels;
    readonly streamSlots: StreamSlots;
    /** Undefined without a demo network. */
    readonly demo: Pick<DemoDesk, "rpc" | "targets"> | undefined;
    readonly writes: WorkerChannels;
    /** What tokens of approval links are derived from; empty without a master key. */
    readonly tokenKeys: readonly Uint8Array[];
    readonly connectState: NodeWorkers["connectState"];
    /** What the main thread knows for the console. */
    readonly console: ConsoleRpc;
    /** Gets the figures of each worker. */
    readonly figures: PartStats<HttpFigures>[];
    /** Gets each worker. */
    readonly threads: Pick<Threads, "add">;
    readonly lines: RecentLines;
    readonly damage: Pick<DamageReports, "note">;
    readonly unsent: UnsentBytes;
    /** The port on which another thread listens for now; undefined without one. */
    readonly startingPort: number | undefined;
    readonly admission: Admission;
    readonly onCrash: (message: string) => void;
  },
): HttpWorkers {
  const { ops, metrics, partMetrics, commits, fanOut, delivery, hub, writes, connectState, onCrash } = deps;
  const { ingest, matching, streamSlots, demo, threads, lines, unsent, admission } = deps;
  const count = httpWorkersOf(config.http);
  const sharesPort = count > 1 || deps.startingPort !== undefined;
  const stats: PartStats<WorkerMetrics>[] = [];
  const clients: RpcClient<HttpWorkerRpc>[] = [];
  const nodeOps: NodeOps = { ...ops, metrics: createMetricsPage(metrics, partMetrics, stats) };

  new Gauge({
    name: `${metrics.prefix}http_unsent_bytes`,
    help: `Response bytes that clients have not read yet; new large responses are refused above ${unsent.maxBytes}`,
    registers: [metrics.registry],
    collect() {
      this.set(unsent.usedBytes);
    },
  });

  registerAdmissionMetrics(metrics, admission);

  /** That of the first worker, once it has started. */
  let firstChannels: WorkerChannels | undefined;
  const start = (port: number): WorkerHandle => {
    const { port1: opsPort, port2: node } = new MessageChannel();
    serveRpc<NodeOps>(opsPort, nodeOps);
    const { port1: consolePort, port2: consoleLink } = new MessageChannel();
    serveRpc<ConsoleRpc>(consolePort, deps.console);
    const fanOutPort = fanOut.connect();
    const deliveryPort = delivery.connect();
    const hubPort = hub.connect();
    const ingestPort = ingest.connect();
    const matchingPorts = { live: matching.connect(), replays: matching.connect() };
    const { port1: countPort, port2: slotsPort } = new MessageChannel();
    serveRpc<StreamSlots>(countPort, {
      take: (request) => streamSlots.take(request),
      change: (slot, cost) => streamSlots.change(slot, cost),
      release: (slot) => streamSlots.release(slot),
    });
    const writesPort = writes.connect();
    const firstWorker = firstChannels?.connect();
    const desk = demo && new MessageChannel();
    if (demo && desk) serveRpc<DemoDeskRpc>(desk.port1, demo.rpc);
    const { link: state, transfer: statePorts } = connectState();
    const init: HttpWorkerInit = {
      config: { ...config, http: { ...config.http, port } },
      node,
      console: consoleLink,
      fanOut: fanOutPort,
      delivery: deliveryPort,
      hub: hubPort,
      ingest: ingestPort,
      matching: matchingPorts,
      streamSlots: slotsPort,
      demo: demo && desk && { desk: desk.port2, targets: demo.targets },
      writes: writesPort,
      tokenKeys: deps.tokenKeys,
      commits: commits.shared,
      admission: admission.shared,
      unsent: unsent.shared,
      state,
      firstWorker,
      sharesPort,
    };
    const name = `http_${stats.length + 1}`;
    const worker = startWorker({
      name: "http",
      url: workerUrls.http,
      init,
      transfer: [
        ...[node, consoleLink, fanOutPort, deliveryPort, hubPort, writesPort, ingestPort, slotsPort],
        ...Object.values(matchingPorts),
        ...(desk ? [desk.port2] : []),
        ...statePorts,
        ...(firstWorker ? [firstWorker] : []),
      ],
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
    url: openAll(),
    async drain(ms) {
      await Promise.all(clients.map((client) => client.drain(ms)));
    },
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop()));
    },
  };
}
