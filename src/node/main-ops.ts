import { Registry } from "prom-client";
import { type Admission, admissionFigures } from "../admission/admission.ts";
import { checkFigures } from "../checks/checks.ts";
import { clusterFigures, type PostgresState } from "../cluster/cluster-figures.ts";
import type { Pauses } from "../cluster/pauses.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { hubLogStatus } from "../db/index/log/hub-log.ts";
import { eventLogSpan } from "../db/index/log/outbox.ts";
import { NO_ANSWER } from "../db/postgres/breaker.ts";
import { type HubRpc, hubFigures, hubStatsAtRest } from "../hub/rpc.ts";
import type { IndexSize } from "../ingest/size-bound.ts";
import { ingestFigures } from "../ingest/thread/figures.ts";
import type { IngestRpc } from "../ingest/thread/rpc.ts";
import type { RpcClient } from "../lib/port-rpc.ts";
import { noticeFigures } from "../notices/notice-figures.ts";
import { type PreviewsRpc, previewFigures } from "../previews/rpc.ts";
import type { FanOut } from "../push/fan-out/fan-out.ts";
import { SENDS_AT_REST, sendFigures } from "../push/send-figures.ts";
import { nowSecs } from "../runtime/clock.ts";
import type { Common } from "../runtime/common.ts";
import { registerFigures } from "../runtime/figures/figure-metrics.ts";
import type { Figure } from "../runtime/figures/figures.ts";
import type { Metrics } from "../runtime/figures/metrics.ts";
import { type SpanCounts, traceFigures } from "../runtime/trace/span-counts.ts";
import { scoreFigures } from "../scores/figures.ts";
import type { ScoreSchedule } from "../scores/schedule.ts";
import { type SignerStatsRpc, signerFigures, signerStatsAtRest } from "../signers/signer-stats.ts";
import { type StreamSlotStats, streamFigures } from "../stream/slots.ts";
import { upstreamFigures } from "../upstream/figures/figures.ts";
import { degradedReasons } from "../upstream/follow/engine-watch.ts";
import { DELIVERY_AT_REST, deliveryFigures } from "../webhooks/deliver/delivery-figures.ts";
import { MATCHING_AT_REST, type MatchRpc, matchFigures } from "../webhooks/match/rpc.ts";
import type { DeliveryNode } from "../webhooks/rpc.ts";
import type { WritesRpc } from "../writes/rpc.ts";
import { WRITES_AT_REST, writeFigures } from "../writes/write-figures.ts";
import type { NodeChecks } from "./compose/checks.ts";
import { type MaintenanceRpc, maintenanceFigures } from "./maintenance/maintenance.ts";
import type { NodeOps, PartMetrics } from "./node-ops.ts";
import { type FigureSource, figuresHere, figuresOf, PartStats } from "./part-stats.ts";
import { masterKeysOf } from "./signers/master-keys.ts";
import type { StateWriterRpc } from "./state/writer-client.ts";
import { nodeFigures, nodeStatus } from "./status.ts";
import type { NodeWorkers, OnNeed } from "./threads/node-workers.ts";
import type { Threads } from "./threads/threads.ts";
import type { UpstreamWatch } from "./threads/upstream-watch.ts";
import { type CheckReasons, firstReason, isSetUp, notSetUpReason } from "./watch/checks.ts";
import { createStateWatch, type StateWatch, stateFigures } from "./watch/state-watch.ts";
import {
  createStorageWatch,
  type StorageWatch,
  type StorageWatchOptions,
  storageFigures,
} from "./watch/storage-watch.ts";

type StatsClient<Rpc extends { stats(): unknown }> = Pick<RpcClient<Rpc>, "stats">;

/** The clients of the parts that report stats. */
interface NodeOpsDeps {
  readonly common: Common;
  readonly db: IndexDatabase;
  readonly ingest: StatsClient<IngestRpc>;
  readonly maintenance: StatsClient<MaintenanceRpc>;
  readonly fanOut: StatsClient<FanOut>;
  readonly delivery: StatsClient<DeliveryNode>;
  readonly matching: StatsClient<MatchRpc>;
  /** The hub's thread; undefined if neither gRPC nor its reads are served. */
  readonly hub: StatsClient<HubRpc> | undefined;
  /** Undefined while previews are off. */
  readonly previews: StatsClient<PreviewsRpc> | undefined;
  /** The thread for writes and managed signers; undefined while both are off. */
  readonly writes: (StatsClient<WritesRpc> & RpcClient<SignerStatsRpc>) | undefined;
  /** The writer of state.db; undefined with PostgreSQL. */
  readonly state: StatsClient<StateWriterRpc> | undefined;
  /** See `MainState`. */
  readonly postgres: PostgresState | undefined;
  readonly threads: Pick<Threads, "reports">;
  /** See `NodeWorkers`: the stats of an idle part are known without a request. */
  readonly isResting: NodeWorkers["isResting"];
  /** The watch of the upstream; undefined if the node follows none. */
  readonly upstream: UpstreamWatch | undefined;
  readonly admission: Admission;
  /** The streams of all HTTP workers. */
  readonly streams: () => StreamSlotStats;
  readonly pauses: Pick<Pauses, "latest">;
  /** Reports whether every part has started. */
  readonly isStarted: () => boolean;
  /** The states of the checks; undefined while nothing evaluates them. */
  readonly checks: Pick<NodeChecks, "states" | "notices"> | undefined;
  /** Undefined while traces are off. */
  readonly spanCounts: SpanCounts | undefined;
  /** The computation of scores; undefined if there is none. */
  readonly scoreRuns: () => Pick<ScoreSchedule, "isRunning" | "lastFault"> | undefined;
  readonly storage: Pick<StorageWatchOptions, "replaced" | "onReplaced" | "damage">;
}

/** Creates the operations that the main thread serves to HTTP workers, except the HTTP workers' own metrics. */
export function createNodeOps(deps: NodeOpsDeps): Omit<NodeOps, "metrics"> & {
  readonly partMetrics: readonly PartMetrics[];
  readonly stateWatch: StateWatch | undefined;
  readonly storageWatch: StorageWatch;
  readonly sources: readonly FigureSource[];
  /** The last report of the index writer; undefined before the first. */
  readonly indexSize: () => IndexSize | undefined;
} {
  const {
    common,
    db,
    ingest,
    maintenance,
    fanOut,
    delivery,
    matching,
    hub,
    previews,
    writes,
    state,
    postgres,
    upstream,
    threads,
    isResting,
    streams,
    admission,
    pauses,
    isStarted,
    scoreRuns,
    checks,
    spanCounts,
    storage,
  } = deps;
  const { config, log, metrics, shutdown } = common;
  const onNeed = <Stats>(name: string, thread: OnNeed, atRest: Stats, read: () => Promise<Stats>) =>
    new PartStats(name, async () => (isResting(thread) ? atRest : read()));
  const keyId = masterKeysOf(config)[0]?.keyId ?? null;
  const stats = {
    ingest: new PartStats("ingest", () => ingest.stats()),
    maintenance: new PartStats("maintenance", () => maintenance.stats()),
    fanOut: onNeed("fan_out", "fanOut", SENDS_AT_REST, () => fanOut.stats()),
    delivery: onNeed("delivery", "delivery", DELIVERY_AT_REST, () => delivery.stats()),
    matching: onNeed("matching", "matching", MATCHING_AT_REST, () => matching.stats()),
    hub:
      hub &&
      new PartStats(
        "hub",
        async () => (await hub.stats()) ?? hubStatsAtRest(config.hub.reads ? hubLogStatus(db) : undefined),
      ),
    previews: previews && new PartStats("previews", () => previews.stats()),
    writes: writes && onNeed("writes", "writes", WRITES_AT_REST, () => writes.stats()),
    signers: writes && onNeed("signers", "writes", signerStatsAtRest(keyId), () => writes.signerStats()),
    state: state && new PartStats("state", () => state.stats()),
  };
  const stateWatch = stats.state && createStateWatch(stats.state);
  const storageWatch = createStorageWatch({
    ...storage,
    dataDir: config.data.dir,
    writeFaults: {
      index: async () => (await stats.ingest.request())?.writeFault,
      ...(stats.state ? { state: async () => (await stats.state?.request())?.failure } : {}),
    },
    log,
  });
  const reasons: CheckReasons = {
    stopping: () => (shutdown.signal.aborted ? "the node is shutting down" : undefined),
    starting: () => (isStarted() ? undefined : "the node is starting"),
    database_damaged: () => storageWatch.damageReason(),
    disk_write: () => storageWatch.writeFaultReason(),
    index_full: () => (stats.ingest.latest?.size.isFull ? "index at index.max_bytes" : undefined),
    upstream_worker: () => upstream?.workerReason(),
    upstream_peer: () => upstream?.peerReason(),
    unknown_validators: () => upstream?.validatorsReason(),
    fork: () => upstream?.forkReason(),
    state_differs: () => (config.trust.on_mismatch === "stop" ? upstream?.mismatchReason() : undefined),
    upstream_behind: () => upstream?.lagReason(),
    not_proven: () =>
      upstream ? upstream.notProvenReason() : "nothing is proven: the node follows no network",
    not_set_up: () => notSetUpReason(config, db),
    state_away: () => awayReason(postgres),
    state_stalled: () => stateWatch?.stalledReason(),
  };
  const notReadyReason: NodeOps["notReadyReason"] = ({ for: need }) =>
    firstReason(reasons, {
      state: need === "state",
      proof: need === "proof" || !config.trust.serve_unproven,
    });
  const sources: readonly FigureSource[] = [
    figuresHere(nodeFigures, () => ({
      db,
      maxBytes: config.index.max_bytes,
      isReady: () => notReadyReason({}) === undefined,
    })),
    figuresHere(storageFigures, () => storageWatch),
    figuresHere(
      upstreamFigures,
      upstream &&
        (() => ({
          progress: upstream.latest(),
          behind: upstream.behindReason(),
          roots: config.trust.roots,
        })),
    ),
    figuresOf(ingestFigures, stats.ingest),
    figuresOf(hubFigures, stats.hub),
    figuresOf(matchFigures, stats.matching),
    figuresOf(deliveryFigures, stats.delivery, { asksState: true }),
    figuresOf(sendFigures, stats.fanOut, { asksState: true }),
    figuresOf(writeFigures, stats.writes, { asksState: true }),
    figuresOf(signerFigures, stats.signers, { asksState: true }),
    figuresHere(
      streamFigures,
      config.stream.enabled ? () => ({ slots: streams(), log: () => eventLogSpan(db) }) : undefined,
    ),
    postgres ? figuresHere(clusterFigures, () => postgres) : figuresOf(stateFigures, stats.state),
    figuresOf(maintenanceFigures, stats.maintenance),
    figuresOf(previewFigures, stats.previews),
    figuresHere(admissionFigures, () => admission),
    figuresHere(checkFigures, checks && (() => checks.states())),
    figuresHere(noticeFigures, checks && (() => checks.notices.stats())),
    figuresHere(traceFigures, spanCounts && (() => spanCounts)),
    figuresHere(
      scoreFigures,
      config.scores.mode === "off"
        ? undefined
        : () => ({
            db,
            mode: config.scores.mode,
            nowSecs: () => nowSecs(common.clock),
            isRunning: () => scoreRuns()?.isRunning() ?? false,
            lastFault: () => scoreRuns()?.lastFault(),
          }),
    ),
  ];
  return {
    sources,
    partMetrics: sources.flatMap((source) => registerSource(metrics, source)),
    stateWatch,
    storageWatch,
    indexSize: () => stats.ingest.latest?.size,
    notReadyReason,
    canBeProven: () => upstream !== undefined,
    readyFacts: () => {
      const engine = upstream?.latest()?.engine;
      return { degraded: engine ? degradedReasons(engine) : [], isSetUp: isSetUp(config, db) };
    },
    staleReason: async () => upstream?.behindReason(),
    status: () => nodeStatus(config, { db, sources, threads, pauses }),
  };
}

function awayReason(postgres: PostgresState | undefined): string | undefined {
  const away = postgres?.away();
  if (!away) return undefined;
  return away.reason === NO_ANSWER ? NO_ANSWER : `${NO_ANSWER}: ${away.reason}`;
}

/** Registers the metrics of figures. Those of a part are in a separate registry, which is rendered when the part has responded. */
function registerSource(metrics: Metrics, { figures, part, read }: FigureSource): PartMetrics[] {
  if (!part) {
    if (read) registerFigures(metrics, figures as readonly Figure<unknown>[], read);
    return [];
  }
  const registry = new Registry();
  const own = { registry, prefix: metrics.prefix };
  registerFigures(own, figures as readonly Figure<unknown>[], () => part.requireLatest());
  return [{ stats: part, registry }];
}
