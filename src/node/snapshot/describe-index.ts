import { isBulkBuilding } from "../../db/index/bulk/bulk-phase.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { isDemo, isFollowing } from "../../db/index/identity.ts";
import { readMeta } from "../../db/index/meta.ts";
import { readTotals } from "../../db/index/totals.ts";
import { areDeferred } from "../../ingest/deferred-records.ts";

import { Stage, UpstreamPositions } from "../../upstream/positions.ts";
import { BLOCK_SHARD } from "../../upstream/shards.ts";
import type { FileManifest, FollowingManifest, IndexManifest } from "./manifest.ts";

/** What the manifest says about the content of an index. */
export function describeIndex(db: IndexDatabase): Omit<IndexManifest, keyof FileManifest> {
  const network = readMeta(db, "network");
  if (network !== "mainnet" && network !== "testnet" && network !== "devnet")
    throw new Error("the index belongs to no network");
  return {
    network,
    demo: isDemo(db),
    upstream: isFollowing(db) ? describeFollowing(new UpstreamPositions(db)) : null,
    rows: readTotals(db),
  };
}

/** Why an index is incomplete; undefined for a complete one. */
export function incompleteReason(db: IndexDatabase): string | undefined {
  if (isFollowing(db)) {
    if (new UpstreamPositions(db).stage === Stage.Applying) return undefined;
    return "it is being filled from the upstream, or compared with it";
  }
  return isBulkBuilding(db) || areDeferred(db) ? "an import has not finished" : undefined;
}

function describeFollowing(positions: UpstreamPositions): FollowingManifest {
  const shards = positions.shards ?? 0;
  const applied: Record<string, number> = {};
  for (let shard = BLOCK_SHARD; shard <= shards; shard++) {
    const block = positions.applied(shard);
    if (block !== undefined) applied[shard] = block;
  }
  return {
    fids: positions.scope ?? 0,
    stage: stageName(positions.stage),
    shards,
    applied_blocks: applied,
    seqnum: positions.seqnum ?? null,
  };
}

function stageName(stage: Stage | undefined): FollowingManifest["stage"] {
  if (stage === Stage.Applying) return "applying";
  return stage === Stage.Filling ? "filling" : "listing";
}
