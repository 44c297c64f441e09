import type { Admission } from "../../admission/admission.ts";
import type { NodeSignals } from "../../cluster/node-signals.ts";
import type { Config } from "../../config/schema.ts";
import { confirmsEvents, isFollowing } from "../../config/upstream-urls.ts";
import { CommitSequence } from "../../db/index/log/commit-sequence.ts";
import type { PgStats } from "../../db/postgres/pool-stats.ts";
import type { StateNode } from "../../db/state/state-db.ts";
import { EXIT_RETRYABLE, reasonOf } from "../../lib/failure.ts";
import type { LoopbackTarget } from "../../net/guard.ts";
import { PreviewSignal } from "../../previews/preview-signal.ts";
import type { Common } from "../../runtime/common.ts";
import type { RecentLines } from "../../runtime/log/recent-lines.ts";
import type { HubInit } from "../compose/hub/open-hub.ts";
import { withoutMasterKeys } from "../signers/master-keys.ts";
import type { PartOnNeed, StateLink } from "../state/thread-state.ts";
import type { DamageReports } from "../watch/storage-watch.ts";
import { workerUrl } from "../worker-urls.ts";
import type { DeliveryWorkerInit } from "../workers/delivery.worker.ts";
import type { FanOutWorkerInit } from "../workers/fan-out.worker.ts";
import type { IngestWorkerInit } from "../workers/ingest.worker.ts";
import type { MaintenanceWorkerInit } from "../workers/maintenance.worker.ts";
import type { MatchingWorkerInit } from "../workers/matching.worker.ts";
import type { PreviewsWorkerInit } from "../workers/previews.worker.ts";
import type { RankingWorkerInit } from "../workers/ranking.worker.ts";
import type { StateWorkerInit } from "../workers/state.worker.ts";
import type { UpstreamWorkerInit } from "../workers/upstream.worker.ts";
import type { WritesWorkerInit } from "../workers/writes.worker.ts";
import type { Threads } from "./threads.ts";
import { startWorker, WorkerChannels, type WorkerHandle } from "./worker-handle.ts";

export type WorkerName =
  | "state"
  | "ingest"
  | "matching"
  | "upstream"
  | "ranking"
  | "hub"
  | "writes"
  | "maintenance"
  | "previews"
  | "delivery"
  | "fanOut";

/** The threads that start at the first request to them. */
export type OnNeed = PartOnNeed | "matching";
const ON_NEED: readonly WorkerName[] = [
  "matching",
  "writes",
  "delivery",
  "fanOut",
] satisfies readonly OnNeed[];

/** The sources of a worker's initial message. */
interface InitSources extends Pick<NodeWorkers, "channels" | "connectState"> {
  readonly config: Config;
  readonly admission: Admission;
  readonly commits: SharedArrayBuffer;
  readonly stateNode: StateNode;
  /** See `NodeSignals`. */
  readonly signals: SharedArrayBuffer;
  readonly loopbackTargets: readonly LoopbackTarget[];
  readonly spanCounts: SharedArrayBuffer | undefined;
  /** See `PreviewSignal`. */
  readonly previewSignal: SharedArrayBuffer;
}

interface NodeThread {
  /** The name of its file, `<entry>.worker.ts`. */
  readonly entry: string;
  /** Whether it gets the master keys of signers, which only the signing thread does. */
  readonly hasMasterKeys?: boolean;
  init(sources: InitSources): unknown;
}

/** All threads except those of HTTP. They stop in reverse order. */
const THREADS: Readonly<Record<WorkerName, NodeThread>> = {
  state: {
    entry: "state",
    init: ({ config, stateNode, signals }): StateWorkerInit => ({ config, stateNode, signals }),
  },
  ingest: {
    entry: "ingest",
    init: ({ config, commits, connectState }): IngestWorkerInit => ({
      config,
      commits,
      state: connectState(),
    }),
  },
  matching: { entry: "matching", init: ({ config }): MatchingWorkerInit => ({ config }) },
  upstream: {
    entry: "upstream",
    init: ({ config, channels }): UpstreamWorkerInit => ({
      config,
      ingest: channels.ingest.connect(),
      verifierUrl: workerUrl("verifier"),
    }),
  },
  ranking: {
    entry: "ranking",
    init: ({ config, channels }): RankingWorkerInit => ({ config, ingest: channels.ingest.connect() }),
  },
  hub: {
    entry: "hub",
    init: ({ config, channels, commits, admission, spanCounts }): HubInit => ({
      config,
      commits,
      admission: admission.shared,
      ingest: channels.ingest.connect(),
      upstream: isFollowing(config) ? channels.upstream.connect() : undefined,
      spanCounts,
    }),
  },
  writes: {
    entry: "writes",
    hasMasterKeys: true,
    init: ({ config, channels, commits, connectState }): WritesWorkerInit => ({
      config,
      hub: channels.hub.connect(),
      state: connectState(),
      upstream: confirmsEvents(config) ? channels.upstream.connect() : undefined,
      commits,
    }),
  },
  previews: {
    entry: "previews",
    init: ({ config, commits, previewSignal }): PreviewsWorkerInit => ({
      config,
      commits,
      signal: previewSignal,
    }),
  },
  maintenance: {
    entry: "maintenance",
    init: ({ config, connectState }): MaintenanceWorkerInit => ({ config, state: connectState() }),
  },
  delivery: {
    entry: "delivery",
    init: ({ config, channels, commits, connectState, loopbackTargets, spanCounts }): DeliveryWorkerInit => ({
      config,
      commits,
      ingest: channels.ingest.connect(),
      state: connectState(),
      matching: { live: channels.matching.connect(), previews: channels.matching.connect() },
      loopbackTargets,
      spanCounts,
    }),
  },
  // Listed last: it stops first, so that another node takes over its campaigns.
  fanOut: {
    entry: "fan-out",
    init: ({ config, channels, connectState, loopbackTargets, spanCounts }): FanOutWorkerInit => ({
      config,
      state: connectState(),
      upstream: confirmsEvents(config) ? channels.upstream.connect() : undefined,
      loopbackTargets,
      spanCounts,
    }),
  },
};

const NAMES = Object.keys(THREADS) as WorkerName[];

/** The names of these threads in reports. */
export const THREAD_NAMES: readonly string[] = NAMES.map((name) => threadName(THREADS[name]));

function threadName({ entry }: NodeThread): string {
  return entry.replaceAll("-", "_");
}

/** The workers of the node. Their channels exist before they start, and the shutdown stops them. */
export interface NodeWorkers {
  readonly channels: Readonly<Record<WorkerName, WorkerChannels>>;
  /** Creates what a thread needs to open the state. */
  connectState(): StateLink;
  /** The commits of the ingest worker, for readers of the index. */
  readonly commits: CommitSequence;
  /** The signal from the previews thread to the readers of its file. */
  readonly previewSignal: SharedArrayBuffer;
  /** Starts a worker unless it runs. Resolves to its facts when it is ready. */
  start(name: WorkerName): WorkerHandle["ready"];
  /** Leaves a worker idle until the first request to it, because it has nothing to do. */
  rest(name: OnNeed): void;
  /** Starts an idle worker that has work without a request. If it cannot start, the process ends, as after a crash. */
  startOnNeed(name: OnNeed): Promise<void>;
  /** Reports whether a worker was left idle and is not ready yet. */
  isResting(name: OnNeed): boolean;
  /** Returns the `onCrash` of a worker: it ends the process, so that a supervisor restarts it. */
  crashed(name: string): (message: string) => void;
}

/** What the workers share. */
interface NodeWorkersState {
  readonly admission: Admission;
  /** Read when a worker starts. */
  readonly loopbackTargets: readonly LoopbackTarget[];
  readonly stateNode: StateNode;
  readonly signals: NodeSignals;
  /** Undefined with state.db. */
  readonly pgStats: PgStats | undefined;
  /** Each worker is added to it. */
  readonly threads: Pick<Threads, "add">;
  readonly lines: RecentLines;
  readonly damage: Pick<DamageReports, "note">;
  /** See `SpanCounts`; undefined while traces are off. */
  readonly spanCounts: SharedArrayBuffer | undefined;
}

/** Registers all workers for the shutdown without starting any. `config.data.dir` is absolute. */
export function createNodeWorkers(
  { config, log, shutdown }: Common,
  {
    admission,
    stateNode,
    signals,
    pgStats,
    loopbackTargets,
    threads,
    lines,
    damage,
    spanCounts,
  }: NodeWorkersState,
): NodeWorkers {
  const channels = Object.fromEntries(
    NAMES.map((name) => [
      name,
      new WorkerChannels(ON_NEED.includes(name) ? () => void startOnNeed(name) : undefined),
    ]),
  ) as Record<WorkerName, WorkerChannels>;
  const running = new Map<WorkerName, WorkerHandle>();
  const ended = new Set<WorkerName>();
  const resting = new Set<WorkerName>();
  for (const name of NAMES)
    shutdown.add(`${name} worker`, () => ended.add(name) && running.get(name)?.stop());
  const crashed = (worker: string) => (message: string) => {
    log.fatal({ worker, reason: message }, "A worker crashed");
    void shutdown.start(`${worker} worker crashed`, EXIT_RETRYABLE);
  };
  const commits = new CommitSequence();
  const previewSignal = new PreviewSignal().shared;
  const connectState = (): StateLink => ({
    node: stateNode,
    signals: signals.shared,
    pgStats: pgStats?.shared,
    // With PostgreSQL, every thread writes directly.
    writer: config.state.url === "" ? channels.state.connect() : undefined,
  });
  function start(name: WorkerName): WorkerHandle["ready"] {
    const known = running.get(name);
    if (known) return known.ready;
    const { entry, hasMasterKeys = false, init } = THREADS[name];
    const thread = threadName(THREADS[name]);
    const worker = startWorker({
      name,
      url: workerUrl(entry),
      init: init({
        config: hasMasterKeys ? config : withoutMasterKeys(config),
        admission,
        channels,
        commits: commits.shared,
        connectState,
        stateNode,
        signals: signals.shared,
        loopbackTargets,
        spanCounts,
        previewSignal,
      }),
      keepLine: (line) => lines.add(thread, line),
      onDamage: damage.note,
      onCrash: crashed(name),
    });
    running.set(name, worker);
    threads.add(thread, worker);
    channels[name].attach(worker);
    return worker.ready;
  }

  async function startOnNeed(name: WorkerName): Promise<void> {
    if (running.has(name) || ended.has(name)) return;
    try {
      await start(name);
      resting.delete(name);
    } catch (cause) {
      if (!ended.has(name)) crashed(name)(reasonOf(cause));
    }
  }

  return {
    channels,
    commits,
    previewSignal,
    connectState,
    crashed,
    start,
    startOnNeed,
    rest(name) {
      if (!running.has(name)) resting.add(name);
    },
    isResting: (name) => resting.has(name),
  };
}
