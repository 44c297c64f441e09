import type { IndexDatabase } from "../db/index/database.ts";
import { lastHubBlock } from "../db/index/hub-log.ts";
import { readShardTotals } from "../db/index/totals.ts";
import { GetInfoResponse } from "../protocol/wire/generated/hub.ts";

/** The progress of following a shard. */
export interface FollowedShard {
  /** 0 is the shard of the block chain. */
  readonly shard: number;
  readonly appliedBlock: number;
  readonly lagSecs: number | undefined;
}

/** Shard 0 of the network, which has blocks and no fids. */
const BLOCK_SHARD = 0;

function ownShard(db: IndexDatabase): FollowedShard {
  return { shard: 1, appliedBlock: lastHubBlock(db, 1) ?? 0, lagSecs: 0 };
}

/**
 * How the node presents itself. Without an upstream it is one shard. With an upstream, it reports the upstream's shards and its
 * progress in each.
 */
export async function readInfo({
  db,
  version,
  upstream,
}: {
  readonly db: IndexDatabase;
  readonly version: string;
  readonly upstream?: { readonly shards: () => Promise<readonly FollowedShard[]> } | undefined;
}): Promise<GetInfoResponse> {
  const totals = readShardTotals(db);
  const fileBytes = db.sizeBytes();
  const progress = upstream ? await upstream.shards() : [ownShard(db)];
  const shardInfos = progress.map(({ shard, appliedBlock, lagSecs }) => ({
    shardId: shard,
    maxHeight: appliedBlock,
    blockDelay: lagSecs ?? 0,
    numMessages: totals.get(shard)?.messages ?? 0,
    numFidRegistrations: totals.get(shard)?.fids ?? 0,
    numOnchainEvents: totals.get(shard)?.on_chain_events ?? 0,
    approxSize: Math.floor(fileBytes / progress.length),
  }));
  const sum = (name: "messages" | "fids") => totals.values().reduce((total, one) => total + one[name], 0);
  return GetInfoResponse.fromPartial({
    version,
    dbStats: { numMessages: sum("messages"), numFidRegistrations: sum("fids"), approxSize: fileBytes },
    numShards: progress.filter(({ shard }) => shard !== BLOCK_SHARD).length,
    shardInfos,
  });
}
