import type { IndexDatabase } from "../../db/index/database.ts";
import { dirtyKindsFrom } from "../../db/index/trie/account-roots.ts";
import { areRootsKept, shardProof } from "../../db/index/trie/shard-proofs.ts";
import { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";

/** How the state of a data shard compares with the root that the network's validators signed. */
export interface ShardState {
  readonly shard: number;
  /**
   * `computing`: the roots of some accounts are not computed yet. `unproven`: the roots differ, on a network of which no release has proven
   * a whole state, so that a rule of it may be unknown here.
   */
  readonly state: "computing" | "proven" | "differs" | "unproven";
  readonly provenHeight: number | undefined;
  /** Unix seconds. */
  readonly provenAt: number | undefined;
  /** The first block of the difference; undefined without one. */
  readonly mismatchHeight: number | undefined;
  readonly mismatches: number;
  /** Kinds of accounts whose roots wait to be computed; counted up to `MAX_COUNTED_DIRTY`. */
  readonly dirty: number;
}

export const MAX_COUNTED_DIRTY = 10_000;

/**
 * The networks of which a whole state was proven with a release, at the engine version that they had then. Mainnet and testnet were never
 * available for it.
 */
const PROVEN_NETWORKS: ReadonlySet<FarcasterNetwork> = new Set([FarcasterNetwork.FARCASTER_NETWORK_DEVNET]);

/** Returns how the state of each data shard compares with the signed roots. */
export function shardStates(db: IndexDatabase, network: FarcasterNetwork, shards: number): ShardState[] {
  const isKept = areRootsKept(db);
  return Array.from({ length: shards }, (_, index) => {
    const shard = index + 1;
    const { provenHeight, provenAt, mismatchHeight, mismatches } = shardProof(db, shard);
    const differs = PROVEN_NETWORKS.has(network) ? "differs" : "unproven";
    const compared = provenHeight === null ? "computing" : "proven";
    return {
      shard,
      state: !isKept ? "computing" : mismatchHeight === null ? compared : differs,
      provenHeight: provenHeight ?? undefined,
      provenAt: provenAt ?? undefined,
      mismatchHeight: mismatchHeight ?? undefined,
      mismatches,
      dirty: dirtyKindsFrom(db, shard, new Uint8Array(), MAX_COUNTED_DIRTY).length,
    };
  });
}
