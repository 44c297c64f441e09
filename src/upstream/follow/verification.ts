import { chainHeadOf } from "../../db/index/upstream-work.ts";
import { PeerError } from "../calls/peer.ts";
import {
  type ChainVerifier,
  type ChainVerifierDeps,
  createChainVerifier,
  NO_VERIFICATION,
  type OnUnknownSet,
} from "../chain/chain-verifier.ts";
import type { TrustTracker } from "../chain/trust-tracker.ts";
import type { KnownValidators } from "../chain/validator-source.ts";

/** How to verify the blocks of the upstream. */
export interface Verification {
  /** Returns the validators of the network; undefined if none are known. */
  readonly validators: () => KnownValidators | undefined;
  readonly onUnknownSet: OnUnknownSet;
  /** Whether the index writer maintains the roots of accounts (`trust.level`). Default: it does not. */
  readonly comparesRoots?: boolean;
}

const FIRST_DATA_SHARD = 1;

/** @throws PeerError if the upstream has no certificates but the blocks so far do. */
export function chainVerifier(
  {
    db,
    network,
    clock,
    fids,
    verification,
    trust,
    forks,
    timings,
  }: Pick<ChainVerifierDeps, "db" | "network" | "clock" | "timings" | "forks"> & {
    readonly fids: ReadonlySet<number> | undefined;
    readonly verification?: Verification | undefined;
    readonly trust: TrustTracker;
  },
  run: Pick<ChainVerifierDeps, "client" | "signal" | "onFault">,
  hasBlockShard: boolean,
): ChainVerifier {
  if (!verification) {
    trust.trustsNode("trust.level is node");
    return NO_VERIFICATION;
  }
  if (!hasBlockShard) {
    // Otherwise a node could avoid verification by presenting itself as one without certificates.
    if (chainHeadOf(db, FIRST_DATA_SHARD))
      throw new PeerError("its blocks have no certificates, and those of the index have");
    trust.trustsNode("the upstream numbers its blocks itself: they have no certificates");
    return NO_VERIFICATION;
  }
  const known = verification.validators();
  if (!known) {
    trust.trustsNode("the validators of the network are not known; trust.validators_file can name them");
    return NO_VERIFICATION;
  }
  trust.verifies(known.origin, verification.comparesRoots && !fids ? "roots" : "blocks");
  return createChainVerifier({
    ...run,
    timings,
    db,
    network,
    clock,
    sets: known.sets,
    readSets: () => verification.validators()?.sets,
    onUnknownSet: verification.onUnknownSet,
    tracker: trust,
    forks,
  });
}
