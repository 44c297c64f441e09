import type { Config } from "../../config/schema.ts";
import type { ConsoleRpc } from "../../console/console-rpc.ts";
import { createOperatorSessions } from "../../console/operator/operator-sessions.ts";
import { pauseReport } from "../../console/operator/pause-report.ts";
import type { ThreadsReport } from "../../console/operator/reports.ts";
import { settingsInForce } from "../../console/operator/settings-in-force.ts";
import { type HistoryStep, SAMPLE_SECS } from "../../console/pulse/history.ts";
import type { Following, Pulse } from "../../console/pulse/pulse.ts";
import { createSampler, scheduleSamples } from "../../console/pulse/sampler.ts";
import { PUBLIC_NAMES, SERIES_NAMES, type SeriesName } from "../../console/pulse/series.ts";
import { rounded, seriesPage } from "../../console/pulse/series-page.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { isDemo } from "../../db/index/identity.ts";
import { readTotals } from "../../db/index/totals.ts";
import { oncePer } from "../../lib/once-per.ts";
import type { RpcClient } from "../../lib/port-rpc.ts";
import { nowSecs } from "../../runtime/clock.ts";
import type { Common } from "../../runtime/common.ts";
import { createLogThrottle } from "../../runtime/log-throttle.ts";
import type { RecentLines } from "../../runtime/recent-lines.ts";
import { version } from "../../version.ts";
import type { MaintenanceRpc } from "../maintenance/maintenance.ts";
import type { NodeOps } from "../node-ops.ts";
import type { MainState } from "../state/main-thread-state.ts";
import type { UpstreamWatch } from "../upstream-watch.ts";
import { countOf, createFigureReader, type FigureSources, fileSizes, knownLagSecs } from "./read-figures.ts";

/** What the main thread knows for the pages of the console. */
export interface ConsoleNode {
  readonly rpc: ConsoleRpc;
  /** Starts to take figures. Returns what stops it. */
  schedule(): () => void;
}

export interface ConsoleNodeDeps extends Omit<FigureSources, "config" | "upstream"> {
  readonly common: Pick<Common, "config" | "clock" | "log">;
  readonly nodeId: string;
  readonly db: IndexDatabase;
  readonly ops: Pick<NodeOps, "notReadyReason">;
  readonly upstream: UpstreamWatch | undefined;
  readonly pauses: MainState["pauses"];
  readonly maintenance: Pick<RpcClient<MaintenanceRpc>, "backups" | "backUp">;
  readonly lines: RecentLines;
  /** The sources of the settings in force. */
  readonly settingSources: ReadonlyMap<string, string>;
  /** See `OperatorSessionsDeps`. */
  readonly operatorToken: string | undefined;
}

const ONE_SECOND_MS = 1000;
const HISTORY_POINTS = 60;
const FAULT_INTERVAL_MS = 60_000;

export function createConsoleNode(deps: ConsoleNodeDeps): ConsoleNode {
  const { common, nodeId, db, ops, upstream, maintenance, lines } = deps;
  const { config, clock, log } = common;
  const startedAtMs = clock.nowMs();
  const sampler = createSampler({ read: createFigureReader({ ...deps, config }), clock });
  const throttle = createLogThrottle({ clock, intervalMs: FAULT_INTERVAL_MS });
  const sessions = createOperatorSessions({ token: deps.operatorToken, nodeId, clock });
  const uptimeSecs = () => Math.max(0, Math.floor((clock.nowMs() - startedAtMs) / 1000));

  const pulse = oncePer(ONE_SECOND_MS, async (): Promise<Pulse> => {
    const reason = await ops.notReadyReason({ forState: false });
    const { p50Ms, p99Ms } = sampler.responseTimes();
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
      following: upstream ? followingOf(upstream) : null,
      merged_per_second: rounded(merged_per_second),
      requests_per_second: rounded(requests_per_second),
      p50_ms: rounded(p50Ms ?? undefined),
      p99_ms: rounded(p99Ms ?? undefined),
      history: { step_secs: SAMPLE_SECS, merged: mergedHistory() },
    };
  });

  function mergedHistory(): (number | null)[] {
    const since = nowSecs(clock) - HISTORY_POINTS * SAMPLE_SECS;
    const page = pageOf(["merged_per_second"], SAMPLE_SECS, since);
    const merged = page.series.merged_per_second ?? [];
    const missing = new Array<null>(Math.max(0, HISTORY_POINTS - merged.length)).fill(null);
    return [...missing, ...merged.slice(-HISTORY_POINTS)];
  }

  function pageOf(names: readonly SeriesName[], step: HistoryStep, since: number) {
    return seriesPage(sampler.history.since(since, step), names, { node: nodeId, stepSecs: step });
  }

  return {
    rpc: {
      pulse,
      publicSeries: (step, since) => pageOf(PUBLIC_NAMES, step, since),
      series: (step, since) => pageOf(SERIES_NAMES, step, since),
      issueCode: sessions.issueCode,
      open: sessions.open,
      admit: sessions.admit,
      end: sessions.end,
      threads: oncePer(ONE_SECOND_MS, async () => ({
        node: nodeId,
        uptime_secs: uptimeSecs(),
        threads: await deps.threads.reports(),
        ...resourcesOf(config, deps, sampler.latest().cpu_percent),
      })),
      settings: () => settingsInForce(config, deps.settingSources),
      log: (after) => lines.after(after),
      backups: () => maintenance.backups(),
      backUp: () => maintenance.backUp(),
    },
    schedule: () =>
      scheduleSamples(sampler, (err) =>
        throttle((others) => log.warn({ err, ...others }, "Failed to take figures")),
      ),
  };
}

function resourcesOf(
  config: Config,
  { stats, storageWatch, streams, unsent, descriptors, pauses }: ConsoleNodeDeps,
  cpuPercent: number | undefined,
): Pick<ThreadsReport, "process" | "disk" | "limits" | "switches"> {
  const space = storageWatch.diskSpace();
  const sizes = fileSizes(config);
  const streamStats = streams();
  const index = stats.ingest.latest?.size;
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
        ? [{ name: "streams", used: countOf(streamStats), max: streamStats.maxConnections }]
        : []),
      ...(index && index.maxBytes !== null
        ? [{ name: "index bytes", used: index.bytes, max: index.maxBytes }]
        : []),
      { name: "unsent response bytes", used: unsent.usedBytes, max: unsent.maxBytes },
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
  };
}
