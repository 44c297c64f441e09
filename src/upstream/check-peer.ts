import type { GetInfoResponse } from "../protocol/wire/generated/hub.ts";
import type { UpstreamClient } from "./client.ts";
import { PeerError } from "./peer.ts";
import { BLOCK_SHARD } from "./shards.ts";

const MAX_SHARDS = 1000;

/**
 * Checks that the peer is a Farcaster node that can be followed: it reports its number of shards and serves the
 * blocks of shard 0, the only source of gasless keys and lends. Any other missing method fails at its first call.
 *
 * @returns number of its data shards.
 * @throws PeerError if it is not such a node; the error of a call if it cannot be reached.
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
  if (numShards < 1 || numShards > MAX_SHARDS) throw new PeerError(`it reports ${numShards} shards`);
  return numShards;
}
