import type { Result } from "../../lib/result.ts";
import type { SignedBlock, SignedChunk } from "../../protocol/wire/generated/certificate.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import type { ValidatorSets } from "../../trust/validator-sets.ts";
import { type ChainRefusal, type VerifiedHead, verifyBlock, verifyChunk } from "../../trust/verify-block.ts";
import { shardCount } from "../calls/check-peer.ts";
import type { UpstreamClient } from "../calls/client.ts";
import type { ReceivedBlock } from "../calls/decode/codecs.ts";
import { NoBlocksError, PeerError } from "../calls/peer.ts";
import { RefusedBlockError } from "../chain/chain-verifier.ts";
import { BLOCK_SHARD } from "../positions.ts";

/** What a node reports about itself, proven as far as its blocks are signed. */
export interface NodeAnswer {
  /** Number of its data shards. */
  readonly shards: number;
  /** See `Peer`. */
  readonly hasBlockShard: boolean;
  /** The newest block of each shard, including shard 0. For a chain that no one signs, as the node reports. */
  readonly heads: ReadonlyMap<number, number>;
  /** Duration of the first call, in milliseconds. */
  readonly latencyMs: number;
}

export interface AskOptions {
  readonly network: FarcasterNetwork;
  /** The validators of the network; undefined if its blocks are not verified. */
  readonly sets: ValidatorSets | undefined;
  /** Called with each verified head. */
  readonly onVerified?: (head: VerifiedHead, signed: SignedChunk | SignedBlock) => void;
}

/**
 * Asks a node for the newest block of each shard, and verifies each by its own certificate, which does not require any
 * earlier block.
 *
 * @throws PeerError if the node cannot be followed; RefusedBlockError for a block that is not the network's; the error of a
 * call.
 */
export async function askNode(client: UpstreamClient, options: AskOptions): Promise<NodeAnswer> {
  const { network, sets, onVerified } = options;
  let isPartial = false;
  const startedMs = performance.now();
  const info = await client.info({
    onPartial: () => {
      isPartial = true;
    },
  });
  const latencyMs = performance.now() - startedMs;
  if (isPartial) throw new PeerError("it follows only some fids (its setting upstream.fids)");
  const shards = shardCount(info);
  const heights = new Map(info.shardInfos.map(({ shardId, maxHeight }) => [shardId, maxHeight]));
  const heads = new Map<number, number>();

  /** Without a block to verify, nothing is known about the shard; an unknown validator set proves nothing. */
  const accept = (
    shard: number,
    signed: SignedChunk | SignedBlock | undefined,
    verify: (known: ValidatorSets) => Result<VerifiedHead, ChainRefusal>,
  ) => {
    if (!signed) return void heads.set(shard, 0);
    if (!sets) return void heads.set(shard, signed.header?.height?.blockNumber ?? 0);
    const verified = verify(sets);
    if (verified.ok) {
      heads.set(shard, verified.value.height);
      return onVerified?.(verified.value, signed);
    }
    const { code, uncertified } = verified.error;
    if (!uncertified) throw new RefusedBlockError(shard, heights.get(shard) ?? 0, code);
    heads.set(shard, uncertified.height);
  };

  const block = await newestBlock(client, heights.get(BLOCK_SHARD) ?? 0);
  if (block === NO_BLOCKS) {
    if (sets || shards !== 1 || heights.has(BLOCK_SHARD)) throw new NoBlocksError(WITHOUT_CERTIFICATES);
  } else {
    const chainId = block?.header?.chainId ?? 0;
    if (chainId !== 0 && chainId !== network) throw new PeerError("its blocks are of another network");
    accept(BLOCK_SHARD, block, (known) => verifyBlock(known, network, block as SignedBlock, undefined));
  }
  for (let shard = 1; shard <= shards; shard++) {
    const height = heights.get(shard) ?? 0;
    const [chunk] = height === 0 ? [] : await client.signedChunks(shard, height, height + 1);
    if (height > 0 && !chunk && sets) throw new Error(`it does not serve block ${height} of shard ${shard}`);
    if (chunk) accept(shard, chunk, (known) => verifyChunk(known, shard, chunk, undefined));
    else heads.set(shard, height);
  }
  return { shards, hasBlockShard: block !== NO_BLOCKS, heads, latencyMs };
}

const NO_BLOCKS = Symbol("no blocks");
const WITHOUT_CERTIFICATES = "its blocks have no certificates (it does not serve GetBlocks)";

/** Returns the newest block of shard 0; undefined before the first. */
async function newestBlock(
  client: UpstreamClient,
  height: number,
): Promise<ReceivedBlock["signed"] | undefined | typeof NO_BLOCKS> {
  using blocks = client.blocks(Math.max(1, height));
  try {
    const { value, done } = await blocks.next();
    return done ? undefined : (value as ReceivedBlock).signed;
  } catch (cause) {
    if (cause instanceof NoBlocksError) return NO_BLOCKS;
    throw cause;
  }
}
