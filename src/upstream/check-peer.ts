import type { GetInfoResponse } from "../protocol/wire/generated/hub.ts";
import type { UpstreamClient } from "./client.ts";
import { PeerError } from "./peer.ts";
import { BLOCK_SHARD } from "./shards.ts";

const MAX_SHARDS = 1000;

/**
 * Decides whether the peer is a Farcaster node that can be followed: it says how many shards it has, and gives the blocks of
 * shard 0, the only source of gasless keys and lends. What else it lacks shows at the first call of it.
 *
 * @returns number of its data shards.
 * @throws PeerError where it is none; what a call threw where it cannot be asked.
 */
export async function checkPeer(client: UpstreamClient): Promise<number> {
  const info = await client.info();
  const shards = shardCount(info);
  const head = info.shardInfos.find(({ shardId }) => shardId === BLOCK_SHARD)?.maxHeight ?? 0;
  using blocks = client.blocks(Math.max(1, head));
  await blocks.next();
  return shards;
}

/** Number of data shards. */
export function shardCount({ numShards }: GetInfoResponse): number {
  if (numShards < 1 || numShards > MAX_SHARDS) throw new PeerError(`it says that it has ${numShards} shards`);
  return numShards;
}
