import { type Err, err, ok, type Result } from "../lib/result.ts";
import type { Height } from "../protocol/wire/generated/block.ts";
import { type CommitSignature, type Commits, Vote } from "../protocol/wire/generated/certificate.ts";
import type { ValidatorSets } from "./validator-sets.ts";

/** Why a block is refused. */
export type RefusalCode =
  | "no_header"
  | "wrong_shard"
  | "wrong_network"
  | "hash_mismatch"
  | "no_commits"
  | "commits_other_height"
  | "commits_other_value"
  | "commits_round"
  | "too_many_signatures"
  | "no_validator_set"
  | "unknown_signer"
  | "duplicate_signer"
  | "bad_signature"
  | "no_quorum"
  | "height_gap"
  | "parent_mismatch"
  | "witness_hash"
  | "event_hash"
  | "events_hash"
  /** The hub events of a block name a different block. */
  | "events_of_other_block";

/** A certificate that cannot be accepted. */
export interface CertificateRefusal {
  readonly code: RefusalCode;
  /**
   * Whether the validator set of the shard has changed: no set is known for the height, or known validators have signed
   * together with unknown ones. A certificate signed only by unknown keys is a forgery.
   */
  readonly isSetUnknown: boolean;
}

/** A block to which a certificate can refer. */
export interface SignedValue {
  readonly shard: number;
  readonly height: number;
  /** BLAKE3 of the header. */
  readonly hash: Uint8Array;
}

const PRECOMMIT = 1;
/** Limits the signatures that are verified before a certificate is refused. */
const MAX_SIGNATURES = 64;

function refused(code: RefusalCode, isSetUnknown = false): Err<CertificateRefusal> {
  return err({ code, isSetUnknown });
}

/**
 * Verifies that more than two thirds of the validators of a shard and height have signed a value. Each signature must be
 * valid and by a different validator; otherwise the certificate is refused. Returns the number of signers.
 */
export function verifyCertificate(
  sets: ValidatorSets,
  value: SignedValue,
  commits: Commits | undefined,
): Result<number, CertificateRefusal> {
  const { shard, height, hash } = value;
  if (!commits) return refused("no_commits");
  if (!isHeight(commits.height, shard, height)) return refused("commits_other_height");
  if (commits.value?.shardIndex !== shard || !isEqual(commits.value.hash, hash))
    return refused("commits_other_value");
  if (commits.round < 0) return refused("commits_round");
  const { signatures } = commits;
  if (signatures.length > MAX_SIGNATURES) return refused("too_many_signatures");
  const validators = sets.at(shard, height);
  if (!validators) return refused("no_validator_set", true);
  const voteOf = (voter: Uint8Array) =>
    Vote.encode({
      type: PRECOMMIT,
      height: commits.height,
      round: commits.round,
      value: commits.value,
      voter,
    });
  const isValid = ({ signer, signature }: CommitSignature) =>
    validators.verifierOf(signer)?.(voteOf(signer).finish(), signature) ?? false;

  const signers = new Set<string>();
  for (const one of signatures) {
    if (!validators.verifierOf(one.signer)) return refused("unknown_signer", signatures.some(isValid));
    if (signers.has(one.signer.toHex())) return refused("duplicate_signer");
    if (!isValid(one)) return refused("bad_signature");
    signers.add(one.signer.toHex());
  }
  return 3 * signers.size > 2 * validators.size ? ok(signers.size) : refused("no_quorum");
}

function isHeight(height: Height | undefined, shard: number, number: number): boolean {
  return height?.shardIndex === shard && height.blockNumber === number;
}

export function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
