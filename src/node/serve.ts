import { createAdmission } from "../admission/admission.ts";
import { NodeSignals } from "../cluster/node-signals.ts";
import { newestSnapshot } from "../db/index/counts/rankings.ts";
import { indexPath, openIndexReader } from "../db/index/database.ts";
import { isDemo } from "../db/index/identity.ts";
import { publishedSeq } from "../db/index/log/outbox.ts";
import { companionsOf, databaseFile } from "../db/sqlite/open.ts";
import { onDamage } from "../db/sqlite/storage-error.ts";
import { statePath } from "../db/state/database.ts";
import type { HttpFigures } from "../http/metrics/http-metrics.ts";
import type { NotableResponse } from "../http/metrics/notable-requests.ts";
import type { HubRpc } from "../hub/rpc.ts";
import type { IngestRpc } from "../ingest/thread/rpc.ts";
import { connectRpc } from "../lib/port-rpc.ts";
import type { LoopbackTarget } from "../net/guard.ts";
import { checkListenAddresses, hostAndPort, listenersOf } from "../net/listen-address.ts";
import type { PreviewsRpc } from "../previews/rpc.ts";
import type { FanOut } from "../push/fan-out/fan-out.ts";
import type { Common } from "../runtime/common.ts";
import { openDataDir } from "../runtime/data-dir.ts";
import { processDescriptors } from "../runtime/process.ts";
import { watchForReplacement } from "../runtime/replacement.ts";
import { SpanCounts } from "../runtime/trace/span-counts.ts";
import type { ScoreSchedule } from "../scores/schedule.ts";
import { computesScores } from "../scores/settings.ts";
import { tokenKeysOf } from "../signers/approval/approval-token.ts";
import type { SignerStatsRpc } from "../signers/signer-stats.ts";
import { lagSecsOf } from "../upstream/figures/figures.ts";
import type { MatchRpc } from "../webhooks/match/rpc.ts";
import type { DeliveryNode } from "../webhooks/rpc.ts";
import type { WritesRpc } from "../writes/rpc.ts";
import { openStreamSlots } from "./connection-caps.ts";
import { createNodeOps } from "./main-ops.ts";
import type { MaintenanceRpc } from "./maintenance/maintenance.ts";
import type { PartStats } from "./part-stats.ts";
import type { Served, ServeOptions } from "./serve-options.ts";
import { masterKeysOf, withoutMasterKeys } from "./signers/master-keys.ts";
import { commonOfNode, settingSourcesOf, withMadeSettings } from "./start/node-common.ts";
import { prepareDatabases } from "./start/prepare-databases.ts";
import { createStarting } from "./start/starting.ts";
import { drainFirst, endOnReplacement, signalLife } from "./start/stop-steps.ts";
import { openMainState } from "./state/main-state.ts";
import type { PartOnNeed } from "./state/thread-state.ts";
import type { StateWriterRpc } from "./state/writer-client.ts";
import { startHttpWorkers } from "./threads/http-workers.ts";
import { createNodeWorkers } from "./threads/node-workers.ts";
import { createThreads } from "./threads/threads.ts";
import { scheduleUpstreamWatch, watchUpstream } from "./threads/upstream-watch.ts";
import { isSetUp, notSetUpReason } from "./watch/checks.ts";
import { createLiveness, type Liveness, NOT_LIVE } from "./watch/liveness.ts";
import { scheduleStateWatch } from "./watch/state-watch.ts";
import { createDamageReports, scheduleStorageWatch } from "./watch/storage-watch.ts";

/**
 * Starts the whole node. Reads need only the index, so the HTTP workers start first. The other parts start after them, and their requests
 * wait until they are ready. Each part is registered for the shutdown before it starts, so that parts stop in reverse order: those that
 * accept requests first, each writer after its clients, the data directory last.
 */
export async function serve(base: Common, options: ServeOptions): Promise<Served> {
  const { shutdown } = base;
  const { lines } = options;
  const dataDir = openDataDir(base.config.data.dir);
  shutdown.add("data directory", () => dataDir.release());
  const { common: named, nodeId } = commonOfNode(base, dataDir);
  checkListenAddresses(listenersOf(named.config));
  const starting = createStarting(named.config, { lines, startedAtMs: named.clock.nowMs() });
  shutdown.add("listener of the start", () => starting.stop());
  const refusals = await prepareDatabases(named, { ...options, starting });
  const isLocal = named.config.state.url === "";
  const databases = [
    { database: "index", file: databaseFile(indexPath(dataDir.path)) } as const,
    ...(isLocal ? [{ database: "state", file: databaseFile(statePath(dataDir.path)) } as const] : []),
  ];
  const signals = new NodeSignals();
  const damage = createDamageReports(databases, named.log, signals);
  onDamage(damage.note);
  const db = openIndexReader(indexPath(dataDir.path));
  shutdown.add("index reader", () => db[Symbol.dispose]());
  const { common, operatorToken } = withMadeSettings(named, db);
  const { config } = common;
  const threads = createThreads(lines);
  let liveness: Liveness | undefined;
  const state = await openMainState({
    common,
    nodeId,
    isSetUp: notSetUpReason(config, db) === undefined,
    signals,
    report: () => liveness?.report() ?? NOT_LIVE,
    onLost(reason, exitCode) {
      common.log.fatal({ reason }, "The node can no longer use its state");
      void shutdown.start(reason, exitCode);
    },
  });
  shutdown.add("state", () => state.stop());
  /** The addresses on this machine that the node itself may call: the receivers of a demo network, and none on any other node. */
  const loopbackTargets: LoopbackTarget[] = [];
  const admission = createAdmission(processDescriptors()?.cap);
  const spanCounts = config.trace.endpoint === "" ? undefined : new SpanCounts();
  const workers = createNodeWorkers(common, {
    admission,
    loopbackTargets,
    stateNode: state.node,
    signals,
    pgStats: state.pgStats,
    threads,
    lines,
    damage,
    spanCounts: spanCounts?.shared,
  });
  const { channels, commits, previewSignal, connectState, start, crashed } = workers;
  // Writes of the API use its intake.
  const hasWrites = config.writes.enabled || config.signers.enabled;
  // A demo network only has previews of its own pages, which are created where they are read.
  const hasPreviews = config.previews.mode !== "off" && !isDemo(db);
  const servesHub = config.hub.port !== 0 || config.hub.reads || hasWrites;
  const stateStarted = isLocal ? start("state") : undefined;
  const hasDemoConsole = isDemo(db) && config.console.enabled;
  const demo = hasDemoConsole
    ? await (await import("./compose/demo.ts")).openNodeDemo({
        common,
        link: connectState(),
        hub: servesHub ? connectRpc<HubRpc>(channels.hub.connect()) : undefined,
      })
    : undefined;
  if (demo) {
    loopbackTargets.push(...demo.targets);
    shutdown.add("demo", () => demo.stop());
  }
  const follower = channels.upstream;
  const upstream = watchUpstream(common, follower, signals);
  liveness = createLiveness({ progress: upstream && (() => upstream.latest()), clock: common.clock });
  const streamSlots = openStreamSlots(common, admission, () => lagSecsOf(upstream?.latest()));
  let isStarted = false;
  const scores = computesScores(config) ? await import("./threads/score-runs.ts") : undefined;
  let scoreRuns: ScoreSchedule | undefined;
  const companions = databases.flatMap(({ file }) => companionsOf(file));
  const files = [dataDir.path, dataDir.lockFile, ...databases.map(({ file }) => file), ...companions];
  const replaced = await watchForReplacement(files);
  const hub = servesHub ? connectRpc<HubRpc>(channels.hub.connect()) : undefined;
  const openChecks = config.console.enabled ? (await import("./compose/checks.ts")).openChecks : undefined;
  const checks = await openChecks?.({ common, nodeId, db, state, connectState, upstream, follower });
  const { partMetrics, stateWatch, storageWatch, sources, indexSize, ...ops } = createNodeOps({
    common,
    db,
    ingest: connectRpc<IngestRpc>(channels.ingest.connect()),
    maintenance: connectRpc<MaintenanceRpc>(channels.maintenance.connect()),
    fanOut: connectRpc<FanOut>(channels.fanOut.connect()),
    delivery: connectRpc<DeliveryNode>(channels.delivery.connect()),
    state: isLocal ? connectRpc<StateWriterRpc>(channels.state.connect()) : undefined,
    postgres: state.postgres,
    matching: connectRpc<MatchRpc>(channels.matching.connect()),
    hub,
    previews: hasPreviews ? connectRpc<PreviewsRpc>(channels.previews.connect()) : undefined,
    writes: hasWrites ? connectRpc<WritesRpc & SignerStatsRpc>(channels.writes.connect()) : undefined,
    upstream,
    threads,
    isResting: workers.isResting,
    admission,
    streams: () => streamSlots.stats(),
    pauses: state.pauses,
    isStarted: () => isStarted,
    scoreRuns: () => scoreRuns,
    checks,
    spanCounts,
    storage: {
      damage,
      replaced,
      onReplaced: endOnReplacement(common, companions),
    },
  });
  shutdown.add("storage watch", scheduleStorageWatch(storageWatch));
  const httpFigures: PartStats<HttpFigures>[] = [];
  let takeRequests = async (): Promise<readonly NotableResponse[]> => [];
  const consoleNode = checks
    ? (await import("./console/console-node.ts")).createConsoleNode({
        common,
        nodeId,
        db,
        ops,
        sources,
        indexSize,
        http: httpFigures,
        takeRequests: () => takeRequests(),
        threads,
        storageWatch,
        upstream,
        streams: () => streamSlots.stats(),
        unsent: admission.budgets.unsentBytes,
        descriptors: processDescriptors(),
        pauses: state.pauses,
        checks,
        maintenance: connectRpc<MaintenanceRpc>(channels.maintenance.connect()),
        lines,
        settingSources: settingSourcesOf(base.config, options.settingSources),
        settingFiles: options.settingFiles,
        operatorToken,
        setUp: options.setUp,
        refusals,
      })
    : undefined;
  // An index without a ranking gets one before the first request is served.
  const isRanked = newestSnapshot(db, "casts") !== undefined;
  if (!isRanked) await Promise.all([start("ingest"), start("ranking")]);
  const startingPort = starting.port();
  const http = startHttpWorkers(withoutMasterKeys(config), {
    startingPort,
    ops,
    metrics: common.metrics,
    partMetrics,
    commits,
    fanOut: channels.fanOut,
    delivery: channels.delivery,
    hub: channels.hub,
    ingest: channels.ingest,
    matching: channels.matching,
    ranking: channels.ranking,
    streamSlots,
    demo,
    previews: hasPreviews ? { thread: channels.previews, signal: previewSignal } : undefined,
    writes: channels.writes,
    upstream: channels.upstream,
    tokenKeys: tokenKeysOf(masterKeysOf(config)),
    connectState,
    console: consoleNode?.rpc,
    figures: httpFigures,
    threads,
    lines,
    damage,
    admission,
    spanCounts: spanCounts?.shared,
    onCrash: crashed("http"),
  });
  shutdown.add("HTTP workers", () => http.stop());
  takeRequests = http.takeRequests;
  const httpUrl = await http.url;
  signalLife(shutdown);
  await starting.stop();
  dataDir.announce(httpUrl);
  if (isRanked) await Promise.all([start("ingest"), start("ranking")]);
  const follow = async () => {
    if (!upstream) return;
    await start("upstream");
    shutdown.add("upstream watch", scheduleUpstreamWatch(upstream, signals));
  };
  const ingest = connectRpc<IngestRpc>(channels.ingest.connect());
  const startIfNeeded = async (name: PartOnNeed) => {
    if (!state.threadsWithWork || state.threadsWithWork.has(name)) {
      await start(name);
      return;
    }
    workers.rest(name);
    // New events are work for the publishing thread.
    if (name === "delivery") void ingest.awaitEvents(publishedSeq(db)).then(() => workers.startOnNeed(name));
  };
  const listen = async () => (servesHub ? Number((await start("hub")).port) : undefined);
  const [hubPort] = await Promise.all([
    listen(),
    stateStarted,
    start("maintenance"),
    startIfNeeded("fanOut"),
    workers.rest("matching"),
    startIfNeeded("delivery"),
    hasWrites ? startIfNeeded("writes") : undefined,
    hasPreviews ? start("previews") : undefined,
    follow(),
  ]);
  if (stateWatch) {
    // A slow start must not be mistaken for a writer that does not respond.
    await stateWatch.poll();
    shutdown.add("state watch", scheduleStateWatch(stateWatch));
  }
  const drain = (ms: number) => Promise.all([http.drain(ms), hub?.drain(ms)]);
  shutdown.add("drain", drainFirst(config, drain));
  if (scores) {
    const runs = scores.startScoreRuns({
      common,
      db,
      ingest: channels.ingest,
      threads,
      lines,
      damage,
      onCrash: crashed("score"),
    });
    shutdown.add("scores", () => runs.stop());
    scoreRuns = runs;
  }
  isStarted = true;
  if (consoleNode) {
    // Stops after the figures and before the HTTP workers, so that the history includes the last minute.
    shutdown.add("history", consoleNode.record());
    shutdown.add("figures", consoleNode.schedule());
  }
  return {
    httpUrl,
    hubAddress: hubPort === undefined ? undefined : hostAndPort(config.hub.host, hubPort),
    isDemo: isDemo(db),
    isSetUp: isSetUp(config, db),
    setUpCode: consoleNode?.setUpCode(),
  };
}
