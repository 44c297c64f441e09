import { createAdmission } from "../admission/admission.ts";
import { nodeIdOf } from "../cluster/node-id.ts";
import { NodeSignals } from "../cluster/node-signals.ts";
import { findRisks } from "../config/risks.ts";
import type { Config } from "../config/schema.ts";
import { isBulkBuilding } from "../db/index/bulk/bulk-phase.ts";
import { indexPath, openIndexReader, openIndexWriter } from "../db/index/database.ts";
import { claimNetwork, claimSource, isDemo, mayLackState } from "../db/index/identity.ts";
import { newestSnapshot } from "../db/index/rankings.ts";
import type { SqliteConnection } from "../db/sqlite/connection.ts";
import { companionsOf, databaseFile } from "../db/sqlite/open.ts";
import { onDamage, recoveryOf } from "../db/sqlite/storage-error.ts";
import { openState, statePath } from "../db/state/database.ts";
import type { HttpFigures } from "../http/http-metrics.ts";
import { UnsentBytes } from "../http/unsent-bytes.ts";
import type { HubRpc } from "../hub/rpc.ts";
import { unfinishedImport } from "../import/resume.ts";
import { areDeferred } from "../ingest/deferred-records.ts";
import type { IngestRpc } from "../ingest/rpc.ts";
import { EXIT_OK, EXIT_RETRYABLE, UserError } from "../lib/failure.ts";
import { connectRpc } from "../lib/port-rpc.ts";
import { checkListenAddresses, listenersOf } from "../net/listen-address.ts";
import type { OwnTarget } from "../net/own-target.ts";
import { networkOf } from "../protocol/network.ts";
import type { FanOut } from "../push/fan-out.ts";
import type { Common } from "../runtime/common.ts";
import { openDataDir } from "../runtime/data-dir.ts";
import { processDescriptors } from "../runtime/descriptors.ts";
import type { RecentLines } from "../runtime/recent-lines.ts";
import { watchForReplacement } from "../runtime/replacement.ts";
import { tokenKeysOf } from "../signers/approval-token.ts";
import type { SignerStatsRpc } from "../signers/signer-stats.ts";
import { createStreamSlots } from "../stream/slots.ts";
import type { MatchRpc } from "../webhooks/match/rpc.ts";
import type { DeliveryNode } from "../webhooks/rpc.ts";
import type { WritesRpc } from "../writes/rpc.ts";
import { dropCompactFile } from "./compact/compact-file.ts";
import { openNodeDemo } from "./compose/demo.ts";
import { connectionCaps } from "./connection-caps.ts";
import { createConsoleNode } from "./console/console-node.ts";
import { operatorTokenOf, settingSourcesOf } from "./console/operator-settings.ts";
import { createThreads } from "./console/threads.ts";
import { createDamageReports } from "./damage-reports.ts";
import { migrateFormerIndex } from "./former-index.ts";
import { applyFullText } from "./full-text.ts";
import { createLiveness, type Liveness, NOT_LIVE } from "./liveness.ts";
import { createNodeOps } from "./main-ops.ts";
import type { MaintenanceRpc } from "./maintenance/maintenance.ts";
import type { PartStats } from "./part-stats.ts";
import { masterKeysOf, withDemoKey, withoutMasterKeys } from "./signers/master-keys.ts";
import { openMainState } from "./state/main-state.ts";
import { postgresSettings } from "./state/postgres-settings.ts";
import type { StateWriterRpc } from "./state/writer-rpc.ts";
import { scheduleStateWatch } from "./state-watch.ts";
import { scheduleStorageWatch } from "./storage-watch.ts";
import { watchUpstream } from "./upstream.ts";
import { lagSecsOf, scheduleUpstreamWatch } from "./upstream-watch.ts";
import { startHttpWorkers } from "./workers/http-workers.ts";
import { createNodeWorkers } from "./workers/node-workers.ts";

/** The addresses of a running node. */
export interface Served {
  readonly httpUrl: string;
  /** Undefined when the hub is disabled. */
  readonly hubAddress: string | undefined;
  readonly isDemo: boolean;
}

export interface ServeOptions {
  /** Where each setting comes from, by `section.name`. */
  readonly settingSources: ReadonlyMap<string, string>;
  /** Gets the log lines of level warn and above of all threads; has those of this one. */
  readonly lines: RecentLines;
  /** Fills an empty index with the demo network. */
  readonly demo: boolean;
  /** Starts with an empty state although the index has data. */
  readonly newState: boolean;
  /** Migrates an index of a former format first, however large it is. */
  readonly migrate: boolean;
}

/** A database up to this size is checked whole at the start, in a tenth to half a second. */
const MAX_CHECKED_BYTES = 128 * 1024 * 1024;

/**
 * Starts the whole node. Reads need only the index, so the HTTP workers start first. The other parts start after them, and
 * their requests wait until they are ready. Each part is registered for the shutdown before it starts, so that parts stop
 * in reverse order: those that accept requests first, each writer after its clients, the data directory last.
 */
export async function serve(base: Common, options: ServeOptions): Promise<Served> {
  const { shutdown } = base;
  const dataDir = openDataDir(base.config.data.dir);
  shutdown.add("data directory", () => dataDir.release());
  const nodeId = nodeIdOf(base.config.node.id, dataDir);
  // With the id of the data directory as the setting, lines of every thread name it.
  let config: Config = {
    ...base.config,
    data: { ...base.config.data, dir: dataDir.path },
    node: { id: nodeId },
  };
  const isNamed = config.state.url === "" || base.config.node.id !== "";
  let common: Common = { ...base, config, log: isNamed ? base.log : base.log.child({ node: nodeId }) };
  for (const { key, message } of findRisks(config)) common.log.warn({ setting: key }, message);
  checkListenAddresses(listenersOf(config));
  await prepareDatabases(common, options);
  const isLocal = config.state.url === "";
  const databases = [
    { database: "index", file: databaseFile(indexPath(dataDir.path)) } as const,
    ...(isLocal ? [{ database: "state", file: databaseFile(statePath(dataDir.path)) } as const] : []),
  ];
  const damage = createDamageReports(databases, common.log);
  onDamage(damage.note);
  const db = openIndexReader(indexPath(config.data.dir));
  shutdown.add("index reader", () => db[Symbol.dispose]());
  if (isDemo(db)) {
    config = withDemoKey(config);
    common = { ...common, config };
  }
  const operatorToken = operatorTokenOf(common);
  if (operatorToken !== undefined) {
    // The loggers of all threads remove it, too.
    config = { ...config, console: { ...config.console, operator_token: operatorToken } };
    common = { ...common, config };
  }
  const { lines } = options;
  const threads = createThreads(lines);
  const signals = new NodeSignals();
  let liveness: Liveness | undefined;
  const state = await openMainState({
    common,
    nodeId,
    signals,
    report: () => liveness?.report() ?? NOT_LIVE,
    onLost(reason, exitCode) {
      common.log.fatal({ reason }, "The node can no longer use its state");
      void shutdown.start(reason, exitCode);
    },
  });
  shutdown.add("state", () => state.stop());
  /** What the node's own calls may reach on this machine: the receivers of a demo network, and nothing on any other node. */
  const ownTargets: OwnTarget[] = [];
  const admission = createAdmission(processDescriptors()?.cap);
  const { channels, commits, connectState, start, crashed } = createNodeWorkers(common, {
    admission,
    ownTargets,
    stateNode: state.node,
    signals,
    pgStats: state.pgStats,
    threads,
    lines,
    damage,
  });
  // Writes of the API go through its intake.
  const hasWrites = config.writes.enabled || config.signers.enabled;
  const servesHub = config.hub.port !== 0 || config.hub.reads || hasWrites;
  const stateStarted = isLocal ? start("state") : undefined;
  const hasDemoConsole = isDemo(db) && config.console.enabled;
  const demo = hasDemoConsole
    ? await openNodeDemo({
        common,
        link: connectState().link,
        hub: servesHub ? connectRpc<HubRpc>(channels.hub.connect()) : undefined,
      })
    : undefined;
  if (demo) {
    ownTargets.push(...demo.targets);
    shutdown.add("demo", () => demo.stop());
  }

  const upstream = watchUpstream(common, channels.upstream);
  liveness = createLiveness({ progress: upstream && (() => upstream.latest()), clock: common.clock });
  const caps = connectionCaps(config, processDescriptors());
  if (caps.isLowered)
    common.log.warn(
      { streams: caps.streams, subscribers: caps.subscribers },
      "The limit of open files is low: fewer streams are accepted than the settings allow",
    );
  const streamSlots = createStreamSlots(
    { connections: caps.streams, connectionsPerAddress: config.stream.max_connections_per_ip },
    () => lagSecsOf(upstream?.latest()),
  );
  let isStarted = false;
  const files = databases.map(({ file }) => file);
  const companions = files.flatMap(companionsOf);
  const replaced = await watchForReplacement([dataDir.path, dataDir.lockFile, ...files, ...companions]);
  const hub = servesHub ? connectRpc<HubRpc>(channels.hub.connect()) : undefined;
  const { partMetrics, stateWatch, storageWatch, stats, ...ops } = createNodeOps({
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
    writes: hasWrites ? connectRpc<WritesRpc & SignerStatsRpc>(channels.writes.connect()) : undefined,
    upstream,
    threads,
    streams: () => streamSlots.stats(),
    pauses: state.pauses,
    isStarted: () => isStarted,
    storage: {
      damage,
      replaced,
      onReplaced({ path, change }) {
        const what = `${path} was ${change}`;
        common.log.fatal({ what }, "The data directory is no longer the one that was opened");
        // A log without a name still holds commits. The writers move them into their databases when they close.
        if (change === "deleted" && companions.includes(path)) void shutdown.start(what, EXIT_RETRYABLE);
        // Work in flight would be acknowledged but written to files that no other process can open.
        else process.exit(EXIT_RETRYABLE);
      },
    },
  });
  shutdown.add("storage watch", scheduleStorageWatch(storageWatch));
  const unsent = new UnsentBytes();
  const httpFigures: PartStats<HttpFigures>[] = [];
  const consoleNode = createConsoleNode({
    common,
    nodeId,
    db,
    ops,
    stats,
    http: httpFigures,
    threads,
    storageWatch,
    upstream,
    streams: () => streamSlots.stats(),
    unsent,
    descriptors: processDescriptors(),
    pauses: state.pauses,
    maintenance: connectRpc<MaintenanceRpc>(channels.maintenance.connect()),
    lines,
    settingSources: settingSourcesOf(base.config, options.settingSources),
    operatorToken,
  });
  // An index without a ranking gets one before the first request is served.
  const isRanked = newestSnapshot(db, "casts") !== undefined;
  if (!isRanked) await Promise.all([start("ingest"), start("ranking")]);
  const http = startHttpWorkers(withoutMasterKeys(config), {
    ops,
    metrics: common.metrics,
    partMetrics,
    commits,
    fanOut: channels.fanOut,
    delivery: channels.delivery,
    hub: channels.hub,
    ingest: channels.ingest,
    matching: channels.matching,
    streamSlots,
    demo,
    writes: channels.writes,
    tokenKeys: tokenKeysOf(masterKeysOf(config)),
    connectState,
    console: consoleNode.rpc,
    figures: httpFigures,
    threads,
    lines,
    damage,
    unsent,
    admission,
    onCrash: crashed("http"),
  });
  shutdown.add("HTTP workers", () => http.stop());
  const httpUrl = await http.url;
  dataDir.announce(httpUrl);

  if (isRanked) await Promise.all([start("ingest"), start("ranking")]);
  const follow = async () => {
    if (!upstream) return;
    await start("upstream");
    shutdown.add("upstream watch", scheduleUpstreamWatch(upstream));
  };
  const listen = async () => (servesHub ? (await start("hub")).port : undefined);
  const [hubPort] = await Promise.all([
    listen(),
    stateStarted,
    start("maintenance"),
    start("fanOut"),
    start("matching"),
    start("delivery"),
    hasWrites ? start("writes") : undefined,
    follow(),
  ]);
  if (stateWatch) {
    // A start that took long does not count as a writer that does not respond.
    await stateWatch.poll();
    shutdown.add("state watch", scheduleStateWatch(stateWatch));
  }
  shutdown.add("drain", async (exitCode) => {
    const { drain_delay_secs: delaySecs } = config.http;
    // A node with a fault does not serve on.
    if (exitCode !== EXIT_OK || delaySecs === 0) return;
    await Promise.all([http.drain(delaySecs * 1000), hub?.drain(delaySecs * 1000)]);
    await Bun.sleep(delaySecs * 1000);
  });
  isStarted = true;
  if (config.console.enabled) shutdown.add("figures", consoleNode.schedule());
  return {
    httpUrl,
    hubAddress: hubPort === undefined ? undefined : `${config.hub.host}:${hubPort}`,
    isDemo: isDemo(db),
  };
}

/** Creates the databases or migrates them before the workers open them. */
async function prepareDatabases(common: Common, { demo, newState, migrate }: ServeOptions): Promise<void> {
  const { config, log, clock } = common;
  const startedMs = performance.now();
  const follows = config.upstream.url !== "";
  if (demo && follows)
    throw new UserError(
      "--demo creates its own network, but upstream.url follows another: remove one of them",
    );
  const postgres = postgresSettings(config);
  if (demo && postgres)
    throw new UserError("--demo is a node by itself, but state.url shares its state: remove one of them");
  if (postgres) {
    const { migratePostgres } = await import("../db/postgres/migrate.ts");
    await migratePostgres(postgres, { may: config.state.migrate });
  }
  await migrateFormerIndex(common, config.data.dir, { always: migrate });
  dropCompactFile(indexPath(config.data.dir));
  using db = openIndexWriter(indexPath(config.data.dir));
  refuseDamage(db);
  claimNetwork(db, config.protocol.network);
  claimSource(db, { follows });
  await applyFullText(common, db, config.index);
  if (!follows && (isBulkBuilding(db) || areDeferred(db))) throw new UserError(unfinishedImport(db));
  // Before the index gets any data, so that an index with data and no state means that the state was lost.
  if (!postgres) {
    using state = openState(statePath(config.data.dir), { mayCreate: newState || mayLackState(db) });
    refuseDamage(state);
  }
  let records = 0;
  if (demo) {
    // A dynamic import, so that no other start loads the code that generates and signs the network.
    const { fillWithDemo } = await import("../demo/fill.ts");
    records = fillWithDemo({ db, network: networkOf(config.protocol.network), clock });
  }
  const durationMs = Math.round(performance.now() - startedMs);
  if (records > 0) log.info({ records, durationMs }, "Filled the index with the demo network");
  if (isDemo(db)) log.warn("This data directory holds the demo network, whose keys are public");
}

/** @throws UserError with the remedy for a database with damaged pages. Of a large one, only a part is read. */
function refuseDamage(db: SqliteConnection): void {
  const lines = db.damage({ maxBytes: MAX_CHECKED_BYTES });
  if (lines.length === 0) return;
  throw new UserError(
    `${db.file} is damaged:\n${lines.map((line) => `  ${line}`).join("\n")}\n${recoveryOf(db)}.`,
  );
}
