import type { AuditStore } from "../../../audit/audit-store.ts";
import type { NodeSignals } from "../../../cluster/node-signals.ts";
import type { Config } from "../../../config/schema.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import type { CommitSequence } from "../../../db/index/log/commit-sequence.ts";
import type { HubRpc } from "../../../hub/rpc.ts";
import type { RpcClient } from "../../../lib/port-rpc.ts";
import { valueWithin } from "../../../lib/promises.ts";
import { networkOf } from "../../../protocol/network/network.ts";
import type { Clock } from "../../../runtime/clock.ts";
import type { Logger } from "../../../runtime/log/logger.ts";
import { UpstreamPositions } from "../../../upstream/positions.ts";
import { createIndexWatch } from "../../../writes/index-watch.ts";
import type { WriteNetwork } from "../../../writes/network.ts";
import { createTiming } from "../../../writes/order/timing.ts";
import type { WritesRpc } from "../../../writes/rpc.ts";
import { createWriteService, type WriteSigners } from "../../../writes/service.ts";
import type { BucketStore } from "../../../writes/store/bucket-store.ts";
import { createWriteAudit } from "../../../writes/store/write-audit.ts";
import { createWriteLimits } from "../../../writes/store/write-limits.ts";
import type { WriteStore } from "../../../writes/store/write-store.ts";
import { createWriteSubmitter } from "../../../writes/submit-writes.ts";
import { WriteCounters } from "../../../writes/write-figures.ts";
import { startWriteQueue } from "../../../writes/write-queue.ts";

const STOP_GRACE_MS = 2_000;
/** Decides the messages of channels. */
const SHARD_ZERO = 0;
/** Less than the time that `/status` waits for a part. */
const QUEUED_TIMEOUT_MS = 250;

/** The writes of a node, with the queue that resubmits them. */
export interface NodeWrites {
  readonly rpc: WritesRpc;
  stop(): Promise<void>;
}

/** Composes the writes from the index, the state and the path into the network. */
export function startNodeWrites(deps: {
  readonly config: Pick<Config, "protocol" | "upstream" | "writes">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly db: IndexDatabase;
  readonly commits: Pick<CommitSequence, "read">;
  readonly store: WriteStore;
  readonly buckets: BucketStore;
  readonly audit: Pick<AuditStore, "append">;
  readonly hub: Pick<RpcClient<HubRpc>, "submitWrite" | "isUpstreamReady">;
  readonly signals: Pick<NodeSignals, "isPaused" | "isFenced">;
  /** Undefined if the node has no managed signers. */
  readonly signers: WriteSigners | undefined;
  /** See `WriteQueueDeps`. */
  readonly pollMs?: number;
}): NodeWrites {
  const { config, clock, log, db, commits, store, hub, signals, signers } = deps;
  const network = networkOf(config.protocol.network);
  const way: WriteNetwork = {
    submit: (messages) => hub.submitWrite(messages),
    isReady: (timeoutMs) => hub.isUpstreamReady(timeoutMs),
  };
  const counters = new WriteCounters();
  const positions = new UpstreamPositions(db);
  const index = createIndexWatch({
    db,
    network,
    commits,
    shardZeroBlock: () => positions.applied(SHARD_ZERO),
  });
  const queue = startWriteQueue({
    store,
    network: way,
    index,
    mayRun: () => !signals.isPaused("writes") && !signals.isFenced(),
    counters,
    log,
    ...(deps.pollMs === undefined ? {} : { pollMs: deps.pollMs }),
  });
  const service = createWriteService({
    store,
    submitter: createWriteSubmitter({
      store,
      network: way,
      index,
      get confirmTimeoutMs() {
        return config.writes.confirm_timeout_ms;
      },
      get maxQueued() {
        return config.writes.max_queued;
      },
      onUnseen: queue.watch,
      onForgotten: queue.forget,
      log,
    }),
    timesOf: createTiming({ db, network, clock, store }),
    charge: createWriteLimits(deps.buckets, () => config.writes.fid_messages_per_hour),
    signers,
    isPaused: () => signals.isPaused("writes"),
    recordRefused: createWriteAudit({ audit: deps.audit, clock, log }),
    counters,
    log,
  });
  return {
    rpc: {
      submit: (call) => service.submit(call),
      find: (ownerFid, hash) => store.find(ownerFid, hash),
      stats: async () => ({
        ...counters.read(),
        queue: (await valueWithin(store.queued(), QUEUED_TIMEOUT_MS)) ?? null,
      }),
    },
    async stop() {
      // Writes that have not finished by then are stored, and continue after the next start.
      await Promise.race([service.stop(), Bun.sleep(STOP_GRACE_MS)]);
      await queue.stop();
    },
  };
}
