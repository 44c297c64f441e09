import type { IndexDatabase } from "../../db/index/database.ts";
import { dirtyKindsFrom } from "../../db/index/trie/account-roots.ts";
import { healsOf, quarantinedAccounts } from "../../db/index/trie/heals.ts";
import { keysKnownFrom } from "../../db/index/trie/known-keys.ts";
import { areRootsKept, shardProof } from "../../db/index/trie/shard-proofs.ts";
import { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import { fidOfKey } from "../../trust/trie-key.ts";

/** Result of comparing the state of a data shard with the root that the network's validators signed. */
export interface ShardState {
  readonly shard: number;
  /**
   * `computing`: the roots of some accounts are not computed yet. `incomplete`: the roots differ, and the index was filled
   * fid by fid, which does not provide all keys. `unproven`: they differ on a network for which no release has proven a
   * complete state, so that this program may lack one of its rules.
   */
  readonly state: "computing" | "proven" | "differs" | "incomplete" | "unproven";
  readonly provenHeight: number | undefined;
  /** Unix seconds. */
  readonly provenAt: number | undefined;
  /** The first block of the mismatch; undefined without one. */
  readonly mismatchHeight: number | undefined;
  readonly mismatches: number;
  /** Number of kinds of accounts whose roots wait to be computed, up to `MAX_COUNTED_DIRTY`. */
  readonly dirty: number;
}

export const MAX_COUNTED_DIRTY = 10_000;

/**
 * Networks for which a release has proven a complete state, at the engine version that they had at the time. Mainnet and
 * testnet have never been available for this.
 */
const PROVEN_NETWORKS: ReadonlySet<FarcasterNetwork> = new Set([FarcasterNetwork.FARCASTER_NETWORK_DEVNET]);

/** Reports whether a release has proven a complete state of a network. */
export function isProvenNetwork(network: FarcasterNetwork): boolean {
  return PROVEN_NETWORKS.has(network);
}

/** Returns how the state of each data shard compares with the signed root. */
export function shardStates(db: IndexDatabase, network: FarcasterNetwork, shards: number): ShardState[] {
  const isKept = areRootsKept(db);
  return Array.from({ length: shards }, (_, index) => {
    const shard = index + 1;
    const { provenHeight, provenAt, mismatchHeight, mismatches } = shardProof(db, shard);
    const isKnown = keysKnownFrom(db, shard) !== undefined;
    const differs = !isProvenNetwork(network) ? "unproven" : isKnown ? "differs" : "incomplete";
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

/** Accounts that were made equal to the signed state, and those that no upstream could repair. */
export interface Healed {
  readonly healed: number;
  /** At most `MAX_LISTED_QUARANTINED` accounts. */
  readonly quarantined: readonly { readonly shard: number; readonly fid: number; readonly since: number }[];
}

const MAX_LISTED_QUARANTINED = 100;

export function healedAccounts(db: IndexDatabase): Healed {
  const quarantined = quarantinedAccounts(db).slice(0, MAX_LISTED_QUARANTINED);
  return {
    healed: healsOf(db),
    quarantined: quarantined.map(({ shard, account, since }) => ({ shard, fid: fidOfKey(account), since })),
  };
}
