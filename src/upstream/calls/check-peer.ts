import { decodeMessage } from "../../protocol/message/signed-message.ts";
import type { GetInfoResponse } from "../../protocol/wire/generated/hub.ts";
import { FarcasterNetwork, type MessageData } from "../../protocol/wire/generated/message.ts";
import { BLOCK_SHARD } from "../positions.ts";
import type { UpstreamClient } from "./client.ts";
import { NoBlocksError, PeerError } from "./peer.ts";

const MAX_SHARDS = 1000;

/** What a node that can be followed reports about itself. */
export interface Peer {
  /** Number of its data shards. */
  readonly shards: number;
  /**
   * Whether it has the blocks of shard 0, the source of gasless keys and lends. A node that numbers its own blocks has none:
   * its only shard has events of both.
   */
  readonly hasBlockShard: boolean;
}

/**
 * Checks that the peer is a Farcaster node that can be followed: it reports its number of shards, and serves the blocks of
 * shard 0 if it has that shard. Any other missing method fails on its first call.
 *
 * @throws PeerError if it is not such a node; the error of a call if it cannot be reached.
 */
export async function checkPeer(client: UpstreamClient): Promise<Peer> {
  let isPartial = false;
  const info = await client.info({
    onPartial: () => {
      isPartial = true;
    },
  });
  if (isPartial) throw new PeerError("it follows only some fids (its setting upstream.fids)");
  const shards = shardCount(info);
  const blockShard = info.shardInfos.find(({ shardId }) => shardId === BLOCK_SHARD);
  using blocks = client.blocks(Math.max(1, blockShard?.maxHeight ?? 0));
  try {
    await blocks.next();
  } catch (cause) {
    // Without shard 0, all fids belong to one shard, which has the events of their keys.
    if (cause instanceof NoBlocksError && !blockShard && shards === 1)
      return { shards, hasBlockShard: false };
    throw cause;
  }
  return { shards, hasBlockShard: true };
}

/** Returns the number of data shards. */
export function shardCount({ numShards }: GetInfoResponse): number {
  if (numShards < 1 || numShards > MAX_SHARDS) throw new PeerError(`it reports ${numShards} shards`);
  return numShards;
}

const NETWORK_NAMES: ReadonlyMap<number, string> = new Map([
  [FarcasterNetwork.FARCASTER_NETWORK_MAINNET, "mainnet"],
  [FarcasterNetwork.FARCASTER_NETWORK_TESTNET, "testnet"],
  [FarcasterNetwork.FARCASTER_NETWORK_DEVNET, "devnet"],
]);

/**
 * Returns the data of a message of the followed node, without checking its signature; undefined if it cannot be read.
 *
 * @throws PeerError for a message of another network. Nothing else that a node reports names its network.
 */
export function dataOnNetwork(bytes: Uint8Array, network: FarcasterNetwork): MessageData | undefined {
  const message = decodeMessage(bytes);
  if (!message.ok) return undefined;
  const { data } = message.value;
  if (data.network === network) return data;
  const [theirs, ours] = [data.network, network].map((one) => NETWORK_NAMES.get(one) ?? `network ${one}`);
  throw new PeerError(`its messages are of ${theirs}, and protocol.network is ${ours}`);
}
