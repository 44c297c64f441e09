import { type Err, err, ok, type Result } from "../lib/result.ts";
import { blockHash } from "../protocol/message/message-hash.ts";
import {
  type Commits,
  type SignedBlock,
  SignedBlockHeader,
  type SignedChunk,
  SignedShardHeader,
} from "../protocol/wire/generated/certificate.ts";
import type { FarcasterNetwork } from "../protocol/wire/generated/message.ts";
import { isEqual, type RefusalCode, type SignedValue, verifyCertificate } from "./certificate.ts";
import type { ValidatorSets } from "./validator-sets.ts";

/** The newest block of a shard that is known to be the network's. The next block must name its hash. */
export interface VerifiedHead extends SignedValue {
  /** Farcaster seconds. */
  readonly timestamp: number;
  /** The root of the state after the block; empty while the state is empty. */
  readonly root: Uint8Array;
}

/** Why a block is refused. */
export interface ChainRefusal {
  readonly code: RefusalCode;
  /**
   * The resulting head if the block's signers turn out to be the new validators of its shard; undefined if that is not in
   * question. Everything else about the block is verified.
   */
  readonly uncertified?: VerifiedHead;
}

type Verified = Result<VerifiedHead, ChainRefusal>;

/** The block that precedes the one being verified; undefined for the first one that is read. */
type Previous = Pick<VerifiedHead, "height" | "hash"> | undefined;

/** The shard of the block chain, whose blocks name the network. */
const BLOCK_SHARD = 0;

/** Verifies a block of the data shard `shard` against the validators of its height and the preceding block. */
export function verifyChunk(
  sets: ValidatorSets,
  shard: number,
  { header, hash, commits }: SignedChunk,
  previous: Previous,
): Verified {
  if (!header?.height) return refused("no_header");
  if (header.height.shardIndex !== shard) return refused("wrong_shard");
  const height = header.height.blockNumber;
  const { timestamp, parentHash, shardRoot: root } = header;
  const head = { shard, height, hash: blockHash(SignedShardHeader.encode(header).finish()), timestamp, root };
  if (!isEqual(hash, head.hash)) return refused("hash_mismatch");
  const misplaced = misplacedAfter(previous, head, parentHash);
  return misplaced ? refused(misplaced) : certified(sets, head, commits);
}

/** Verifies a block of shard 0 like a chunk, and also the network, the witnesses and the events that its header binds. */
export function verifyBlock(
  sets: ValidatorSets,
  network: FarcasterNetwork,
  block: SignedBlock,
  previous: Previous,
): Verified {
  const linked = verifyLink(network, block, previous);
  return linked.ok ? certified(sets, linked.value, block.commits) : linked;
}

/** Like `verifyBlock`, but without the block's certificate, because the certificate of a later block covers the block. */
export function verifyLink(
  network: FarcasterNetwork,
  { header, hash, shardWitness, events }: SignedBlock,
  previous: Previous,
): Verified {
  if (!header?.height) return refused("no_header");
  if (header.height.shardIndex !== BLOCK_SHARD) return refused("wrong_shard");
  if (header.chainId !== network) return refused("wrong_network");
  const height = header.height.blockNumber;
  const { timestamp, parentHash, stateRoot: root } = header;
  const encoded = SignedBlockHeader.encode(header).finish();
  const head = { shard: BLOCK_SHARD, height, hash: blockHash(encoded), timestamp, root };
  if (!isEqual(hash, head.hash)) return refused("hash_mismatch");
  const misplaced = misplacedAfter(previous, head, parentHash);
  if (misplaced) return refused(misplaced);
  if (!isEqual(header.shardWitnessesHash, blockHash(shardWitness))) return refused("witness_hash");
  for (const event of events) if (!isEqual(event.hash, blockHash(event.data))) return refused("event_hash");
  return isEqual(header.eventsHash, hashOfEvents(events)) ? ok(head) : refused("events_hash");
}

export function refused(code: RefusalCode): Err<ChainRefusal> {
  return err({ code });
}

function certified(sets: ValidatorSets, head: VerifiedHead, commits: Commits | undefined): Verified {
  const certificate = verifyCertificate(sets, head, commits);
  if (certificate.ok) return ok(head);
  const { code, isSetUnknown } = certificate.error;
  return err({ code, ...(isSetUnknown && { uncertified: head }) });
}

function hashOfEvents(events: SignedBlock["events"]): Uint8Array {
  return events.length === 0 ? new Uint8Array() : blockHash(Buffer.concat(events.map(({ hash }) => hash)));
}

function misplacedAfter(
  previous: Previous,
  { height }: VerifiedHead,
  parentHash: Uint8Array,
): RefusalCode | undefined {
  if (previous && height !== previous.height + 1) return "height_gap";
  return previous && !isEqual(parentHash, previous.hash) ? "parent_mismatch" : undefined;
}
