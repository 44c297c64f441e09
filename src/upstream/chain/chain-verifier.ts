import { status } from "@grpc/grpc-js";
import type { IndexDatabase } from "../../db/index/database.ts";
import { type ChainHead, chainHeadOf } from "../../db/index/upstream-work.ts";
import type { Result } from "../../lib/result.ts";
import type { ChunkTransaction, SignedChunk } from "../../protocol/wire/generated/certificate.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import type { Clock } from "../../runtime/clock.ts";
import { isEqual, type RefusalCode } from "../../trust/certificate.ts";
import type { ValidatorSets } from "../../trust/validator-sets.ts";
import {
  type ChainRefusal,
  refused,
  type VerifiedHead,
  verifyBlock,
  verifyChunk,
  verifyLink,
} from "../../trust/verify-block.ts";
import type { UpstreamClient } from "../calls/client.ts";
import type { ShardBlock } from "../calls/decode/block-assembler.ts";
import { TOO_MANY_FIELDS } from "../calls/decode/bounded-reader.ts";
import type { ReceivedBlock } from "../calls/decode/codecs.ts";
import { PeerError } from "../calls/peer.ts";
import { BLOCK_SHARD } from "../positions.ts";
import { Backoff, type Timings } from "../timings.ts";
import type { Forks, SignedHeader } from "./forks.ts";
import { unknownValidators } from "./stop-texts.ts";
import type { TrustTracker } from "./trust-tracker.ts";

/** Thrown if the upstream sent a block that is not the network's. */
export class RefusedBlockError extends PeerError {
  override name = "RefusedBlockError";

  constructor(shard: number, height: number, code: RefusalCode) {
    super(`block ${height} of shard ${shard} is not the network's (${code})`);
  }
}

/** What to do if a shard is signed by unknown validators: apply nothing of it, or follow it without certificates. */
export type OnUnknownSet = "stop" | "warn";

/** Verifies received blocks before they are journaled or applied. */
export interface ChainVerifier {
  /** Whether it verifies anything. If not, the keys of the network's tries are not followed. */
  readonly isVerifying: boolean;
  /**
   * Verifies consecutive blocks of a data shard. With `stop`, waits until the validators are known.
   *
   * @throws RefusedBlockError when a block is not the network's.
   */
  shardBlocks(shard: number, blocks: readonly ShardBlock[]): Promise<VerifiedBlocks>;
  /**
   * Verifies a block of a data shard by its certificate only. Returns its head; undefined if nothing is verified.
   *
   * @throws RefusedBlockError when the block is not the network's.
   */
  snapshotBlock(shard: number, chunk: SignedChunk): Promise<ChainHead | undefined>;
  /** Like `shardBlocks`, but for shard 0. Returns the resulting head. */
  chainBlocks(blocks: readonly ReceivedBlock[]): Promise<readonly ChainHead[]>;
  /**
   * Verifies consecutive blocks of shard 0 that are older than the followed ones, by the certificate of the last.
   *
   * @throws RefusedBlockError when a block is not the network's.
   */
  pastBlocks(blocks: readonly ReceivedBlock[]): Promise<void>;
}

/** Result of verifying blocks of a data shard. */
export interface VerifiedBlocks {
  /** To be stored with the blocks. */
  readonly heads: readonly ChainHead[];
  /** The transactions of each block, by its number. No header binds them. */
  readonly transactions: ReadonlyMap<number, readonly ChunkTransaction[]>;
}

/** For an upstream whose blocks have no certificates, or when the node is trusted. */
export const NO_VERIFICATION: ChainVerifier = {
  isVerifying: false,
  shardBlocks: async () => ({ heads: [], transactions: new Map() }),
  snapshotBlock: async () => undefined,
  chainBlocks: async () => [],
  pastBlocks: async () => {},
};

export interface ChainVerifierDeps {
  readonly client: Pick<UpstreamClient, "signedChunks">;
  readonly db: IndexDatabase;
  readonly network: FarcasterNetwork;
  readonly clock: Clock;
  /** The current sets. */
  readonly sets: ValidatorSets;
  /** Reads the validators again, if new ones may be known. */
  readonly readSets: () => ValidatorSets | undefined;
  readonly onUnknownSet: OnUnknownSet;
  readonly tracker: TrustTracker;
  /** Compares verified blocks with those of other nodes. */
  readonly forks: Forks;
  readonly timings: Timings;
  /** Ends the waits. */
  readonly signal: AbortSignal;
  /** Called whenever validators are still not known. */
  readonly onFault: (what: string, cause: unknown) => void;
}

/** Interval between two checks whether unknown validators have become known. */
const READ_SETS_MS = 10_000;
/** Chunks contain transactions, which are transferred even though they are not read here. */
const CHUNKS_PER_CALL = 50;

/**
 * Verifies each block by the certificate of the validators at its height, and by the hash of the preceding block. The heads
 * are stored with the positions, so a restart continues with them. After a gap, whose fids are read again, a new chain
 * starts.
 */
export function createChainVerifier(deps: ChainVerifierDeps): ChainVerifier {
  const { client, db, network, clock, readSets, onUnknownSet, tracker, forks, timings, signal, onFault } =
    deps;
  let sets = deps.sets;
  let readAtMs = clock.nowMs();
  const heads = new Map<number, ChainHead | undefined>();
  const headOf = (shard: number) => heads.getOrInsertComputed(shard, () => chainHeadOf(db, shard));

  async function accept(shard: number, height: number, signed: SignedHeader, verify: Verify): Promise<void> {
    const last = headOf(shard);
    const previous = last && height <= last.height + 1 ? last : undefined;
    const verified = await untilValidatorsAreKnown(shard, () => verify(sets, previous));
    if (verified.ok) {
      forks.observe(verified.value, signed);
      await notAtFork(shard);
      heads.set(shard, { ...verified.value, certified: height });
      // Each signature is of a different validator: a certificate with any other signature is refused.
      const signers = signed.commits?.signatures.length ?? 0;
      tracker.verified(shard, height, { signers, validators: sets.at(shard, height)?.size ?? 0 });
      return;
    }
    const { code, uncertified } = verified.error;
    if (uncertified) {
      heads.set(shard, { ...uncertified, certified: last?.certified ?? 0 });
      return;
    }
    tracker.refused(code);
    throw new RefusedBlockError(shard, height, code);
  }

  /**
   * Waits while a shard has stopped at a fork.
   *
   * @throws Error afterwards, because the shard's blocks must be read again.
   */
  async function notAtFork(shard: number): Promise<void> {
    if (forks.of(shard) && (await forks.untilClear(shard, signal))) {
      signal.throwIfAborted();
      throw new Error(`shard ${shard} is followed again after a fork`);
    }
  }

  /**
   * While the validators of a block are not known, waits or follows it without certificates, depending on the settings. The
   * other shards continue.
   */
  async function untilValidatorsAreKnown(shard: number, verify: () => Verified): Promise<Verified> {
    const backoff = new Backoff(timings);
    for (;;) {
      const verified = verify();
      if (verified.ok || !verified.error.uncertified) return verified;
      tracker.unknownValidators(shard);
      if (onUnknownSet === "stop") {
        onFault("a shard is not followed", new Error(unknownValidators(shard)));
        await backoff.wait(signal);
        signal.throwIfAborted();
      } else if (clock.nowMs() - readAtMs < READ_SETS_MS) {
        return verified;
      }
      sets = readSets() ?? sets;
      readAtMs = clock.nowMs();
      if (onUnknownSet === "warn") return verify();
    }
  }

  return {
    isVerifying: true,

    async shardBlocks(shard, blocks) {
      const transactions = new Map<number, readonly ChunkTransaction[]>();
      for await (const { chunk, block } of chunksOf(client, shard, blocks)) {
        await accept(shard, block.number, chunk, (known, previous) =>
          verifyShardBlock(known, shard, chunk, block, previous),
        );
        transactions.set(block.number, chunk.transactions);
      }
      return { heads: storedHeads(headOf(shard)), transactions };
    },

    async snapshotBlock(shard, chunk) {
      const height = chunk.header?.height?.blockNumber ?? 0;
      const verified = await untilValidatorsAreKnown(shard, () => verifyChunk(sets, shard, chunk, undefined));
      if (verified.ok) return { ...verified.value, certified: height };
      const { uncertified } = verified.error;
      if (uncertified) return { ...uncertified, certified: 0 };
      tracker.refused(verified.error.code);
      throw new RefusedBlockError(shard, height, verified.error.code);
    },

    async chainBlocks(blocks) {
      for (const { signed } of blocks) {
        const height = signed.header?.height?.blockNumber ?? 0;
        await accept(BLOCK_SHARD, height, signed, (known, previous) =>
          verifyBlock(known, network, signed, previous),
        );
      }
      return storedHeads(headOf(BLOCK_SHARD));
    },

    async pastBlocks(blocks) {
      let previous: VerifiedHead | undefined;
      for (const [at, { signed }] of blocks.entries()) {
        const isLast = at === blocks.length - 1;
        const verified = await untilValidatorsAreKnown(BLOCK_SHARD, () =>
          isLast ? verifyBlock(sets, network, signed, previous) : verifyLink(network, signed, previous),
        );
        previous = verified.ok ? verified.value : verified.error.uncertified;
        if (verified.ok || verified.error.uncertified) continue;
        tracker.refused(verified.error.code);
        throw new RefusedBlockError(
          BLOCK_SHARD,
          signed.header?.height?.blockNumber ?? 0,
          verified.error.code,
        );
      }
    },
  };
}

type Verify = (sets: ValidatorSets, previous: ChainHead | undefined) => Verified;
type Verified = Result<VerifiedHead, ChainRefusal>;

function storedHeads(head: ChainHead | undefined): readonly ChainHead[] {
  return head ? [head] : [];
}

/** Verifies that the events of a block are confirmed for the block that the validators signed. */
function verifyShardBlock(
  sets: ValidatorSets,
  shard: number,
  chunk: SignedChunk,
  block: ShardBlock,
  previous: ChainHead | undefined,
): Verified {
  const verified = verifyChunk(sets, shard, chunk, previous);
  const head = verified.ok ? verified.value : verified.error.uncertified;
  const isSameBlock =
    !head ||
    (head.height === block.number && head.timestamp === block.timestamp && isEqual(head.hash, block.hash));
  return isSameBlock ? verified : refused("events_of_other_block");
}

/** Yields the chunk of each block. */
async function* chunksOf(
  client: ChainVerifierDeps["client"],
  shard: number,
  blocks: readonly ShardBlock[],
): AsyncGenerator<{ readonly chunk: SignedChunk; readonly block: ShardBlock }> {
  let perCall = CHUNKS_PER_CALL;
  for (let at = 0; at < blocks.length; ) {
    const part = blocks.slice(at, at + perCall);
    const start = part[0]?.number ?? 0;
    let chunks: readonly SignedChunk[];
    try {
      chunks = await client.signedChunks(shard, start, start + part.length);
    } catch (cause) {
      if (perCall === 1 || !isTooLarge(cause)) throw cause;
      perCall = 1;
      continue;
    }
    if (chunks.length !== part.length)
      throw new Error(
        `the upstream has ${chunks.length} of ${part.length} chunks of shard ${shard} from ${start} on`,
      );
    for (const [index, block] of part.entries()) yield { chunk: chunks[index] as SignedChunk, block };
    at += part.length;
  }
}

function isTooLarge(cause: unknown): boolean {
  if (!(cause instanceof Error) || !("code" in cause)) return false;
  return cause.code === status.RESOURCE_EXHAUSTED || cause.message.includes(TOO_MANY_FIELDS);
}
