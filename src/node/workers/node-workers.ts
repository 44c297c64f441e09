import type { Admission } from "../../admission/admission.ts";
import type { NodeSignals } from "../../cluster/node-signals.ts";
import type { Config } from "../../config/schema.ts";
import { CommitSequence } from "../../db/index/commit-sequence.ts";
import type { PgStats } from "../../db/postgres/pool-stats.ts";
import type { StateNode } from "../../db/state/state-node.ts";
import { EXIT_RETRYABLE } from "../../lib/failure.ts";
import type { OwnTarget } from "../../net/own-target.ts";
import type { Common } from "../../runtime/common.ts";
import type { RecentLines } from "../../runtime/recent-lines.ts";
import type { Threads } from "../console/threads.ts";
import type { DamageReports } from "../damage-reports.ts";
import { withoutMasterKeys } from "../signers/master-keys.ts";
import type { StateLink } from "../state/thread-state.ts";
import { workerUrls } from "../worker-urls.ts";
import type { DeliveryWorkerInit } from "./delivery.worker.ts";
import type { FanOutWorkerInit } from "./fan-out.worker.ts";
import type { HubWorkerInit } from "./hub.worker.ts";
import type { IngestWorkerInit } from "./ingest.worker.ts";
import type { MaintenanceWorkerInit } from "./maintenance.worker.ts";
import type { RankingWorkerInit } from "./ranking.worker.ts";
import type { StateWorkerInit } from "./state.worker.ts";
import type { UpstreamWorkerInit } from "./upstream.worker.ts";
import { startWorker, WorkerChannels, type WorkerHandle } from "./worker-handle.ts";
import type { WritesWorkerInit } from "./writes.worker.ts";

/** The parts with a worker of their own, except HTTP, in the reverse of the order in which they stop. */
const NAMES = [
  "state",
  "ingest",
  "matching",
  "upstream",
  "ranking",
  "hub",
  "writes",
  "maintenance",
  "delivery",
  // Before the others: another node takes over its campaigns.
  "fanOut",
] as const;

export type WorkerName = (typeof NAMES)[number];

/** The workers of the node. Their channels exist before they start, and the shutdown stops them. */
export interface NodeWorkers {
  readonly channels: Readonly<Record<WorkerName, WorkerChannels>>;
  /** Creates what a thread needs to open the state; its ports are to be transferred. */
  connectState(): { readonly link: StateLink; readonly transfer: MessagePort[] };
  /** The commits of the ingest worker, for readers of the index. */
  readonly commits: CommitSequence;
  /** Starts a worker. Resolves with its facts when it is ready. */
  start(name: WorkerName): WorkerHandle["ready"];
  /** Returns the `onCrash` of a worker: it ends the process, so that a supervisor restarts it. */
  crashed(name: string): (message: string) => void;
}

/** What the workers share. */
interface NodeWorkersState {
  readonly admission: Admission;
  /** Read when a worker starts. */
  readonly ownTargets: readonly OwnTarget[];
  readonly stateNode: StateNode;
  readonly signals: NodeSignals;
  /** Undefined with state.db. */
  readonly pgStats: PgStats | undefined;
  /** Gets each worker. */
  readonly threads: Pick<Threads, "add">;
  readonly lines: RecentLines;
  readonly damage: Pick<DamageReports, "note">;
}

/** Registers all workers for the shutdown, and starts none. `config.data.dir` is absolute. */
export function createNodeWorkers(
  { config, log, shutdown }: Common,
  { admission, stateNode, signals, pgStats, ownTargets, threads, lines, damage }: NodeWorkersState,
): NodeWorkers {
  const channels = Object.fromEntries(NAMES.map((name) => [name, new WorkerChannels()])) as Record<
    WorkerName,
    WorkerChannels
  >;
  const running = new Map<WorkerName, WorkerHandle>();
  for (const name of NAMES) shutdown.add(`${name} worker`, () => running.get(name)?.stop());
  const crashed = (worker: string) => (message: string) => {
    log.fatal({ worker, reason: message }, "A worker crashed");
    void shutdown.start(`${worker} worker crashed`, EXIT_RETRYABLE);
  };
  const commits = new CommitSequence();
  const connectState = () => {
    // In PostgreSQL, every thread writes itself.
    const writer = config.state.url === "" ? channels.state.connect() : undefined;
    return {
      link: { node: stateNode, signals: signals.shared, pgStats: pgStats?.shared, writer },
      transfer: writer ? [writer] : [],
    };
  };
  return {
    channels,
    commits,
    connectState,
    crashed,
    start(name) {
      const { init, transfer } = initOf(name, {
        config,
        admission,
        channels,
        commits,
        connectState,
        stateNode,
        ownTargets,
      });
      const thread = name === "fanOut" ? "fan_out" : name;
      const worker = startWorker({
        name,
        url: workerUrls[name],
        init,
        transfer,
        keepLine: (line) => lines.add(thread, line),
        onDamage: damage.note,
        onCrash: crashed(name),
      });
      running.set(name, worker);
      threads.add(thread, worker);
      channels[name].attach(worker);
      return worker.ready;
    },
  };
}

/** Returns the initial message of a worker, and the ports in it to transfer. */
function initOf(
  name: WorkerName,
  deps: Pick<NodeWorkers, "channels" | "commits" | "connectState"> & {
    readonly config: Config;
    readonly admission: Admission;
    readonly stateNode: StateNode;
    readonly ownTargets: readonly OwnTarget[];
  },
) {
  const { channels, commits, connectState, stateNode, ownTargets } = deps;
  // Only the thread that signs has the master keys.
  const config = name === "writes" ? deps.config : withoutMasterKeys(deps.config);
  switch (name) {
    case "ingest": {
      const { link: state, transfer } = connectState();
      const init: IngestWorkerInit = { config, commits: commits.shared, state };
      return { init, transfer };
    }
    case "state": {
      const init: StateWorkerInit = { config, stateNode };
      return { init, transfer: [] };
    }
    case "matching":
      return { init: config, transfer: [] };
    case "maintenance": {
      const { link: state, transfer } = connectState();
      const init: MaintenanceWorkerInit = { config, state };
      return { init, transfer };
    }
    case "fanOut": {
      const { link: state, transfer } = connectState();
      const init: FanOutWorkerInit = { config, state, ownTargets };
      return { init, transfer };
    }
    case "delivery": {
      const { link: state, transfer } = connectState();
      const ingest = channels.ingest.connect();
      const matching = { live: channels.matching.connect(), previews: channels.matching.connect() };
      const init: DeliveryWorkerInit = {
        config,
        commits: commits.shared,
        ingest,
        state,
        matching,
        ownTargets,
      };
      return { init, transfer: [ingest, ...Object.values(matching), ...transfer] };
    }
    case "hub": {
      const ingest = channels.ingest.connect();
      const upstream = config.upstream.url === "" ? undefined : channels.upstream.connect();
      const init: HubWorkerInit = {
        config,
        commits: commits.shared,
        admission: deps.admission.shared,
        ingest,
        upstream,
      };
      return { init, transfer: upstream ? [ingest, upstream] : [ingest] };
    }
    case "writes": {
      const { link: state, transfer } = connectState();
      const hub = channels.hub.connect();
      const init: WritesWorkerInit = { config, hub, state, commits: commits.shared };
      return { init, transfer: [hub, ...transfer] };
    }
    case "ranking": {
      const ingest = channels.ingest.connect();
      const init: RankingWorkerInit = { config, ingest };
      return { init, transfer: [ingest] };
    }
    case "upstream": {
      const ingest = channels.ingest.connect();
      const init: UpstreamWorkerInit = { config, ingest, verifierUrl: workerUrls.verifier };
      return { init, transfer: [ingest] };
    }
  }
}
