import type { Budget } from "../../admission/budget.ts";
import { findRisks } from "../../config/checks/risks.ts";
import type { Config } from "../../config/schema.ts";
import { isFollowing } from "../../config/upstream-urls.ts";
import type { ConsoleRpc } from "../../console/console-rpc.ts";
import { createOperatorSessions } from "../../console/operator/operator-sessions.ts";
import { pauseReport } from "../../console/operator/present.ts";
import type { ThreadsReport } from "../../console/operator/reports.ts";
import { createSetUpRuns } from "../../console/operator/set-up-runs.ts";
import { type HistoryStep, SAMPLE_SECS } from "../../console/pulse/history.ts";
import type { Following, Pulse } from "../../console/pulse/pulse.ts";
import { createSampler, scheduleSamples } from "../../console/pulse/sampler.ts";
import { rounded, seriesPage } from "../../console/pulse/series-page.ts";
import type { SetUp } from "../../console/setup/set-up.ts";
import { readTotals } from "../../db/index/counts/totals.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { isDemo, isEmpty } from "../../db/index/identity.ts";
import { httpFigures, summedFigures } from "../../http/metrics/http-figures.ts";
import type { HttpFigures } from "../../http/metrics/http-metrics.ts";
import type { NotableResponse } from "../../http/metrics/notable-requests.ts";
import type { RefusalClass } from "../../import/summary.ts";
import type { IndexSize } from "../../ingest/size-bound.ts";
import { reasonOf } from "../../lib/failure.ts";
import type { RpcClient } from "../../lib/port-rpc.ts";
import { oncePer } from "../../lib/promises.ts";
import { noticesRpc } from "../../notices/rpc.ts";
import { nowSecs } from "../../runtime/clock.ts";
import type { Common } from "../../runtime/common.ts";
import type { Series } from "../../runtime/figures/figures.ts";
import { createLogThrottle } from "../../runtime/log/log-throttle.ts";
import type { RecentLines } from "../../runtime/log/recent-lines.ts";
import type { Descriptors } from "../../runtime/process.ts";
import { openStreams, type StreamSlotStats } from "../../stream/slots.ts";
import { knownLagSecs } from "../../upstream/figures/figures.ts";
import { version } from "../../version.ts";
import type { NodeChecks } from "../compose/checks.ts";
import type { MaintenanceRpc } from "../maintenance/maintenance.ts";
import type { NodeOps } from "../node-ops.ts";
import { type FigureSource, figuresHere, type PartStats } from "../part-stats.ts";
import type { MainState } from "../state/thread-state.ts";
import { THREAD_NAMES } from "../threads/node-workers.ts";
import type { Threads } from "../threads/threads.ts";
import type { UpstreamWatch } from "../threads/upstream-watch.ts";
import type { StorageWatch } from "../watch/storage-watch.ts";
import { createCheckReader, type SourceReading } from "./check-reading.ts";
import { historyQueries } from "./history-queries.ts";
import { createHistoryRecorder } from "./history-recorder.ts";
import { fileSizes, processFigures, readProcessStats } from "./process-figures.ts";
import { proofOf } from "./proof.ts";
import { createReader, seriesIn } from "./sample-reader.ts";
import { createSettingChanges, type SettingFiles } from "./setting-changes.ts";

/** The main thread's data for the pages of the console. */
export interface ConsoleNode {
  readonly rpc: ConsoleRpc;
  setUpCode(): string | undefined;
  /** Starts taking figures. Returns a function that stops this after the sample in progress. */
  schedule(): () => Promise<void>;
  /** Starts passing notes to the history. Returns a function that stops this and passes the rest. */
  record(): () => Promise<void>;
}

export interface ConsoleNodeDeps {
  readonly common: Pick<Common, "config" | "clock" | "log">;
  readonly nodeId: string;
  readonly db: IndexDatabase;
  readonly ops: Pick<NodeOps, "notReadyReason">;
  /** The figures of the parts. */
  readonly sources: readonly FigureSource[];
  /** The figures of each HTTP worker. */
  readonly http: readonly PartStats<HttpFigures>[];
  readonly indexSize: () => IndexSize | undefined;
  readonly threads: Threads;
  readonly storageWatch: Pick<StorageWatch, "diskSpace" | "damageReason" | "writeFaultReason">;
  readonly streams: () => StreamSlotStats;
  readonly unsent: Pick<Budget, "terms" | "use">;
  readonly descriptors: Descriptors | undefined;
  readonly upstream: UpstreamWatch | undefined;
  readonly pauses: MainState["pauses"];
  /** Takes the requests that each HTTP worker has noted. */
  readonly takeRequests: () => Promise<readonly NotableResponse[]>;
  /** Evaluated with the figures of every third sample. */
  readonly checks: Pick<NodeChecks, "evaluate" | "notices">;
  readonly maintenance: RpcClient<MaintenanceRpc>;
  readonly lines: RecentLines;
  readonly settingSources: ReadonlyMap<string, string>;
  readonly settingFiles: SettingFiles | undefined;
  readonly setUp?: SetUp | undefined;
  /** What the import of this start refused. */
  readonly refusals: readonly RefusalClass[];
  /** See `OperatorSessionsDeps`. */
  readonly operatorToken: string | undefined;
}

const ONE_SECOND_MS = 1000;
/** Number of samples between two evaluations of the checks (15 seconds). */
const EVALUATE_EVERY = 3;
const HISTORY_POINTS = 60;
const FAULT_INTERVAL_MS = 60_000;

export function createConsoleNode(deps: ConsoleNodeDeps): ConsoleNode {
  const { common, nodeId, db, ops, upstream, maintenance, lines } = deps;
  const { config, clock, log } = common;
  const startedAtMs = clock.nowMs();
  const ofHttp = () => summedFigures(deps.http.flatMap(({ latest }) => latest ?? []));
  const sources = [
    figuresHere(httpFigures, async () => {
      await Promise.all(deps.http.map((worker) => worker.request()));
      return ofHttp();
    }),
    ...deps.sources,
    figuresHere(processFigures(THREAD_NAMES), () => readProcessStats({ ...deps, config })),
  ];
  const series: readonly Series[] = sources.flatMap(({ figures }) => seriesIn(figures));
  const shown = series.flatMap(({ name, isPrivate, plot, queue }) =>
    isPrivate ? [] : [{ name, ...(plot && { plot }), ...(queue && { queue }) }],
  );
  const readMetrics = createCheckReader({
    sources: deps.sources,
    thresholds: config.checks,
    http: ofHttp,
    descriptors: deps.descriptors,
    risks: () => findRisks(config).map(({ key }) => key),
  });
  let samples = 0;
  const onReading = async (reading: SourceReading) => {
    if (samples++ % EVALUATE_EVERY === 0) await deps.checks.evaluate(await readMetrics(reading));
  };
  const recorder = createHistoryRecorder({
    series: series.map(({ name }) => name),
    record: (batch) => maintenance.record(batch),
    takeRequests: deps.takeRequests,
    clock,
    onFault: (err) => throttle((others) => log.warn({ err, ...others }, "Failed to hand over the history")),
  });
  if (config.history.enabled) lines.onLine = recorder.line;
  const sampler = createSampler({
    series,
    read: createReader(config, sources, onReading),
    clock,
    onSample(...sample) {
      if (!config.history.enabled) return;
      recorder.sample(...sample);
      recorder.pauses(deps.pauses.latest().map(({ name }) => name));
    },
  });
  const settings = createSettingChanges({
    config,
    sources: deps.settingSources,
    files: deps.settingFiles,
    threads: deps.threads,
    log,
    mark: (key) => recorder.setting(key),
  });
  const throttle = createLogThrottle({ clock, intervalMs: FAULT_INTERVAL_MS });
  const sessions = createOperatorSessions({ token: deps.operatorToken, nodeId, clock });
  const maySetUp = () => config.console.operator && !isFollowing(config) && isEmpty(db);
  const setUp = createSetUpRuns(deps.setUp, maySetUp, reasonOf);
  const uptimeSecs = () => Math.max(0, Math.floor((clock.nowMs() - startedAtMs) / 1000));

  const pulse = oncePer(ONE_SECOND_MS, async (): Promise<Pulse> => {
    const reason = await ops.notReadyReason({});
    const { p50_ms, p99_ms } = sampler.overMinute();
    const { merged_per_second, requests_per_second } = sampler.latest();
    return {
      version,
      node: nodeId,
      network: config.protocol.network,
      demo: isDemo(db),
      uptime_secs: uptimeSecs(),
      ready: reason === undefined,
      reason: reason ?? null,
      paused: deps.pauses.latest().map(pauseReport),
      counts: readTotals(db),
      refused: deps.refusals.map(({ reason, count }) => ({ reason, count })),
      following: upstream ? followingOf(upstream) : null,
      merged_per_second: rounded(merged_per_second),
      requests_per_second: rounded(requests_per_second),
      p50_ms: rounded(p50_ms),
      p99_ms: rounded(p99_ms),
      history: { step_secs: SAMPLE_SECS, merged: mergedHistory() },
    };
  });

  function mergedHistory(): (number | null)[] {
    const since = nowSecs(clock) - HISTORY_POINTS * SAMPLE_SECS;
    const { series } = pageOf(SAMPLE_SECS, since, ({ name }) => name === "merged_per_second");
    const merged = series.merged_per_second ?? [];
    const missing = new Array<null>(Math.max(0, HISTORY_POINTS - merged.length)).fill(null);
    return [...missing, ...merged.slice(-HISTORY_POINTS)];
  }

  function pageOf(step: HistoryStep, since: number, isShown?: (series: Series) => boolean) {
    const rows = sampler.history.since(since, step);
    return seriesPage(rows, series, { node: nodeId, stepSecs: step, ...(isShown && { isShown }) });
  }

  return {
    rpc: {
      pulse,
      publicSeries: (step, since) => ({
        ...pageOf(step, since, ({ isPrivate }) => !isPrivate),
        ...(since === 0 && { shown }),
      }),
      series: (step, since) => pageOf(step, since),
      ...sessions,
      ...setUp,
      threads: oncePer(ONE_SECOND_MS, async () => ({
        node: nodeId,
        uptime_secs: uptimeSecs(),
        threads: await deps.threads.reports(),
        ...resourcesOf(config, deps, sampler.latest().cpu_percent),
      })),
      ...settings,
      log: (after) => lines.after(after),
      ...historyQueries(maintenance, { series, pending: recorder.pending, clock }),
      ...noticesRpc(deps.checks.notices, {
        maxOfOwner: () => config.notify.max_channels_per_owner,
        clock,
      }),
      backups: () => maintenance.backups(),
      backUp: () => maintenance.backUp(),
      checkBackup: (name) => maintenance.checkBackup(name),
      offerBackup: (name) => maintenance.offerBackup(name),
      takeBackup: (ticket) => maintenance.takeBackup(ticket),
      backupTaken: () => maintenance.backupTaken(),
    },
    setUpCode: () => (setUp.setUpState().is_open ? sessions.issueSetUpCode() : undefined),
    schedule: () =>
      scheduleSamples(sampler, (err) =>
        throttle((others) => log.warn({ err, ...others }, "Failed to take figures")),
      ),
    record: () => (config.history.enabled ? recorder.schedule() : async () => {}),
  };
}

function resourcesOf(
  config: Config,
  { indexSize, storageWatch, streams, unsent, descriptors, pauses }: ConsoleNodeDeps,
  cpuPercent: number | undefined,
): Pick<ThreadsReport, "process" | "disk" | "limits" | "switches"> {
  const space = storageWatch.diskSpace();
  const sizes = fileSizes(config);
  const streamStats = streams();
  const index = indexSize();
  return {
    process: { resident_bytes: process.memoryUsage.rss(), cpu_percent: rounded(cpuPercent) },
    disk: {
      free_bytes: space?.freeBytes ?? null,
      total_bytes: space?.totalBytes ?? null,
      index_bytes: sizes.index_bytes,
      index_wal_bytes: sizes.index_wal_bytes,
      state_bytes: sizes.state_bytes ?? null,
      state_wal_bytes: sizes.state_wal_bytes ?? null,
      write_fault: storageWatch.damageReason() ?? storageWatch.writeFaultReason() ?? null,
    },
    limits: [
      ...(descriptors ? [{ name: "open files", used: descriptors.open(), max: descriptors.cap }] : []),
      ...(config.stream.enabled
        ? [{ name: "streams", used: openStreams(streamStats), max: streamStats.maxConnections }]
        : []),
      ...(index && index.maxBytes !== null
        ? [{ name: "index bytes", used: index.bytes, max: index.maxBytes }]
        : []),
      { name: "unsent response bytes", used: unsent.use().held, max: unsent.terms.total },
    ],
    switches: pauses.latest().map(pauseReport),
  };
}

function followingOf(upstream: UpstreamWatch): Following {
  const progress = upstream.latest();
  return {
    phase: progress?.phase ?? "connecting",
    fids_done: progress?.fids.done ?? 0,
    fids_total: progress?.fids.total ?? 0,
    build: progress?.build
      ? { stage: progress.build.stage, done_percent: Math.round(progress.build.done * 100) }
      : null,
    eta_secs: progress?.etaSecs === undefined ? null : Math.round(progress.etaSecs),
    lag_secs: knownLagSecs(progress) ?? null,
    proof: progress ? proofOf(progress.trust, Date.now() / 1000) : null,
  };
}
