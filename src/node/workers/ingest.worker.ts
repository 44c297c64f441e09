import { NodeSignals } from "../../cluster/node-signals.ts";
import type { Config } from "../../config/schema.ts";
import { isFollowing } from "../../config/upstream-urls.ts";
import { type IndexDatabase, indexPath, openIndexWriter } from "../../db/index/database.ts";
import { CommitSequence } from "../../db/index/log/commit-sequence.ts";
import { createDeferredSync } from "../../db/index/log/deferred-sync.ts";
import { createFaultLog } from "../../db/state/unavailable.ts";
import { createIngestEngine } from "../../ingest/engine.ts";
import { createOwnHubLog, openLogs } from "../../ingest/hub-log/own-hub-log.ts";
import { createSizeBound, logSizeLevel } from "../../ingest/size-bound.ts";
import { createLogRetention } from "../../ingest/thread/log-retention.ts";
import { createIngestFaultLog, IngestQueue } from "../../ingest/thread/queue.ts";
import { EventSignal, serveIngest } from "../../ingest/thread/rpc.ts";
import { startUpkeep } from "../../ingest/thread/upkeep.ts";
import { createRootKeeper, type RootKeeper } from "../../ingest/trie/root-keeper.ts";
import { createWorkBudget, NO_BUDGET } from "../../ingest/trie/work-budget.ts";
import { engineSchedule } from "../../protocol/network/engine-versions.ts";
import { networkOf } from "../../protocol/network/network.ts";
import { rejection } from "../../protocol/rejection.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLogger } from "../../runtime/log/logger.ts";
import { openStateStores } from "../state/open-state.ts";
import type { StateLink } from "../state/thread-state.ts";
import { notSetUpReason } from "../watch/checks.ts";
import { runWorker } from "./worker-entry.ts";

/** With `trust.roots = "sample"`, a kind of an account with more keys than this has to wait. */
const MAX_KEYS_AT_ONCE = 5_000;

/** The shares of a core that computing the first roots of all accounts may use: on mainnet it takes hours. */
const FIRST_SHARES = { sample: 0.2, full: 0.5 } as const;

/** The share of a core for rechecking accounts that no block has changed. */
const SCRUB_SHARE = 0.001;

/** Returns the keeper of the followed network's roots; undefined if roots are not kept. */
function rootKeeperOf(config: Config, db: IndexDatabase): RootKeeper | undefined {
  const { fids, fid_file: fidFile } = config.upstream;
  const isPartial = fids.length > 0 || fidFile !== "";
  if (isFollowing(config) && config.trust.level === "roots" && !isPartial) return keeperOf(config, db);
  return undefined;
}

function keeperOf(config: Config, db: IndexDatabase): RootKeeper {
  const isSample = config.trust.roots === "sample";
  return createRootKeeper({
    db,
    network: networkOf(config.protocol.network),
    budget: isSample ? createWorkBudget(() => performance.now()) : NO_BUDGET,
    firstBudget: createWorkBudget(() => performance.now(), FIRST_SHARES[config.trust.roots]),
    scrubBudget: createWorkBudget(() => performance.now(), SCRUB_SHARE),
    maxKeysAtOnce: isSample ? MAX_KEYS_AT_ONCE : Number.POSITIVE_INFINITY,
  });
}

/** The initial message of the ingest worker. */
export interface IngestWorkerInit {
  readonly config: Config;
  /** The commits of this worker, which readers follow. */
  readonly commits: SharedArrayBuffer;
  readonly state: StateLink;
}

/** The only writer of the index. It merges the records that other workers have validated. */
runWorker<IngestWorkerInit>(async ({ config, commits, state: link }, { keepLine }) => {
  const log = createLogger(config, { subsystem: "ingest", keep: keepLine });
  const db = openIndexWriter(indexPath(config.data.dir));
  const signals = new NodeSignals(link.signals);
  db.isDamagedElsewhere = () => signals.isDamaged("index");
  const sequence = new CommitSequence(commits);
  db.commits = sequence;
  db.search.isOn = config.index.full_text;
  const deferred = createDeferredSync({
    db,
    onFault(cause) {
      throw new Error(`the write-ahead log of the index could not be synced: ${cause.message}`, { cause });
    },
  });
  const newEvents = new EventSignal();
  const logFault = createIngestFaultLog({ log, clock: systemClock });
  const newHubEvents = new EventSignal();
  const state = await openStateStores({ config, part: "ingest", link, log });
  const logStateFault = createFaultLog({ log, clock: systemClock });
  const isNumbering = !isFollowing(config);
  const unchosen = notSetUpReason(config, db);
  // A node that is not set up does not number events, because it may become a follower.
  const logs =
    unchosen === undefined
      ? await openLogs({
          db,
          nodeId: link.node.nodeId,
          store: state.stores.nodeLogs,
          clock: systemClock,
          isNumbering,
          isLogging: config.hub.reads,
          onFault: (cause) => logStateFault(cause, {}, "Heights of blocks could not be reserved"),
        })
      : undefined;
  const retention = createLogRetention({
    db,
    clock: systemClock,
    get outboxSecs() {
      return config.stream.retention_hours * 3600;
    },
    hubLogSecs: config.hub.event_retention_hours * 3600,
  });
  const bound = createSizeBound({
    db,
    maxBytes: config.index.max_bytes,
    shrink: () => {
      try {
        return retention.shrink();
      } catch (err) {
        logFault(err);
        return false;
      }
    },
    onLevel(level, before, size) {
      sequence.setFull(size.isFull);
      logSizeLevel(log, level, before, size);
    },
  });
  const engine = createIngestEngine({
    db,
    bound,
    network: networkOf(config.protocol.network),
    schedule: engineSchedule(networkOf(config.protocol.network), config.protocol.engine_versions),
    clock: systemClock,
    onFault: logFault,
    onEvents: () => void deferred.synced().then(() => newEvents.raise()),
    refusal: unchosen === undefined ? undefined : rejection("unavailable", unchosen),
    roots: rootKeeperOf(config, db),
    hubLog: logs && isNumbering && config.hub.reads ? createOwnHubLog({ db, logs }) : undefined,
    onHubEvents: () => void deferred.synced().then(() => newHubEvents.raise()),
  });
  const queue = new IngestQueue(engine, deferred);
  const stopUpkeep = startUpkeep({ db, engine, retention, onFault: logFault });
  return {
    connect: (port) => serveIngest(port, { db, engine, queue, bound, newEvents, newHubEvents, retention }),
    async stop() {
      stopUpkeep();
      logs?.stop();
      await queue.drain();
      await state[Symbol.asyncDispose]();
      deferred[Symbol.dispose]();
      if (db.findDamage()?.fault !== "log_lost") db.checkpoint();
      db[Symbol.dispose]();
    },
  };
});
