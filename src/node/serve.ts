import { findRisks } from "../config/risks.ts";
import type { Config } from "../config/schema.ts";
import { indexPath, openIndexReader, openIndexWriter } from "../db/index/database.ts";
import { claimNetwork, claimSource, isDemo, mayLackState } from "../db/index/identity.ts";
import { newestSnapshot } from "../db/index/rankings.ts";
import { openState, statePath } from "../db/state/database.ts";
import { networkOf } from "../ingest/network.ts";
import { EXIT_RETRYABLE, UserError } from "../lib/failure.ts";
import { RpcClient } from "../lib/port-rpc.ts";
import { checkListenAddress } from "../net/listen-address.ts";
import { fanOutOver } from "../push/rpc.ts";
import type { Common } from "../runtime/common.ts";
import { openDataDir } from "../runtime/data-dir.ts";
import { watchForReplacement } from "../runtime/replacement.ts";
import { deliveryNodeOver } from "../webhooks/rpc.ts";
import { scheduleStateWatch } from "./state-watch.ts";
import { createNodeOps } from "./status.ts";
import { scheduleStorageWatch } from "./storage-watch.ts";
import { watchUpstream } from "./upstream.ts";
import { scheduleUpstreamWatch } from "./upstream-watch.ts";
import { startHttpWorkers } from "./workers/http-workers.ts";
import { createNodeWorkers } from "./workers/node-workers.ts";

/** Where the parts that listen are reached. */
export interface Served {
  readonly httpUrl: string;
  /** Undefined where the hub is off. */
  readonly hubAddress: string | undefined;
  readonly isDemo: boolean;
}

export interface ServeOptions {
  /** Fills an empty index with the demo network. */
  readonly demo: boolean;
  /** Begins with an empty state although the index is filled. */
  readonly newState: boolean;
}

/**
 * Starts the whole node. Reads need nothing but the index, so they are served first; the other parts start behind them,
 * and what is asked of those meanwhile waits for them. Each part is registered for the shutdown before it runs, so that
 * parts end in the reverse order: those that accept first, the writer after all who write through it, the directory last.
 */
export async function serve(given: Common, options: ServeOptions): Promise<Served> {
  const { shutdown } = given;
  const dataDir = openDataDir(given.config.data.dir);
  shutdown.add("data directory", () => dataDir.release());
  const config: Config = { ...given.config, data: { ...given.config.data, dir: dataDir.path } };
  const common: Common = { ...given, config };
  for (const { key, message } of findRisks(config)) common.log.warn({ setting: key }, message);
  checkListenAddress({ ...config.http, setting: "http.port (SVC_HTTP_PORT)" });
  checkListenAddress({ ...config.hub, setting: "hub.port (SVC_HUB_PORT)" });
  await prepareDatabases(common, options);
  const db = openIndexReader(indexPath(config.data.dir));
  shutdown.add("index reader", () => db[Symbol.dispose]());
  const { channels: ways, start, crashed } = createNodeWorkers(common);
  const stateStarted = start("state");

  const upstream = watchUpstream(common, ways.upstream);
  let isStarted = false;
  const replaced = await watchForReplacement([
    dataDir.path,
    dataDir.lockFile,
    indexPath(dataDir.path),
    statePath(dataDir.path),
  ]);
  const { partMetrics, stateWatch, storageWatch, ...ops } = createNodeOps({
    common,
    db,
    ingest: new RpcClient(ways.ingest.connect()),
    maintenance: new RpcClient(ways.maintenance.connect()),
    fanOut: fanOutOver(new RpcClient(ways.fanOut.connect())),
    delivery: deliveryNodeOver(new RpcClient(ways.delivery.connect())),
    state: new RpcClient(ways.state.connect()),
    matching: new RpcClient(ways.matching.connect()),
    upstream,
    isStarted: () => isStarted,
    storage: {
      replaced,
      onReplaced(what) {
        // At once, without finishing what is under way: it would be acknowledged, and is written to files that nobody finds.
        common.log.fatal({ what }, "The data directory is no longer the one that was opened");
        process.exit(EXIT_RETRYABLE);
      },
    },
  });
  shutdown.add("storage watch", scheduleStorageWatch(storageWatch));
  // No client meets a node without a ranking: an index that never had one gets it first.
  const isRanked = newestSnapshot(db, "casts") !== undefined;
  if (!isRanked) await Promise.all([start("ingest"), start("ranking")]);
  const http = startHttpWorkers(config, {
    ops,
    metrics: common.metrics,
    partMetrics,
    fanOut: ways.fanOut,
    delivery: ways.delivery,
    state: ways.state,
    onCrash: crashed("http"),
  });
  shutdown.add("HTTP workers", () => http.stop());
  const httpUrl = await http.url;

  if (isRanked) await Promise.all([start("ingest"), start("ranking")]);
  const follow = async () => {
    if (!upstream) return;
    await start("upstream");
    shutdown.add("upstream watch", scheduleUpstreamWatch(upstream));
  };
  const listen = async () => (config.hub.port === 0 ? undefined : (await start("hub")).port);
  const [hubPort] = await Promise.all([
    listen(),
    stateStarted,
    start("maintenance"),
    start("fanOut"),
    start("matching"),
    start("delivery"),
    follow(),
  ]);
  shutdown.add("state watch", scheduleStateWatch(stateWatch));
  isStarted = true;
  return {
    httpUrl,
    hubAddress: hubPort === undefined ? undefined : `${config.hub.host}:${hubPort}`,
    isDemo: isDemo(db),
  };
}

/** Makes the databases or brings them up to date, before the workers open them. */
async function prepareDatabases(common: Common, { demo, newState }: ServeOptions): Promise<void> {
  const { config, log, clock } = common;
  const startedMs = performance.now();
  const follows = config.upstream.url !== "";
  if (demo && follows)
    throw new UserError("--demo makes a network of its own, and upstream.url follows another: leave one out");
  using db = openIndexWriter(indexPath(config.data.dir));
  claimNetwork(db, config.protocol.network);
  claimSource(db, { follows });
  // Before anything comes into the index, so that a filled one without it has lost it.
  openState(statePath(config.data.dir), { mayCreate: newState || mayLackState(db) })[Symbol.dispose]();
  let records = 0;
  if (demo) {
    // Imported here, so that no other start waits for the code that makes and signs the network.
    const { fillWithDemo } = await import("../demo/fill.ts");
    records = fillWithDemo({ db, network: networkOf(config.protocol.network), clock });
  }
  const durationMs = Math.round(performance.now() - startedMs);
  if (records > 0) log.info({ records, durationMs }, "Filled the index with the demo network");
  if (isDemo(db)) log.warn("This data directory holds the demo network, whose keys are public");
}
