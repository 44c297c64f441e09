import { firstEventId } from "../../protocol/hub-event-id.ts";
import type { UpstreamClient } from "../calls/client.ts";
import { BLOCK_SHARD } from "../positions.ts";

/**
 * Returns the number of the last event of shard 0 that all data shards of the upstream have repeated. Its responses about
 * channels, owners and verifications are from the data shards, which may be minutes behind, while an index has what shard 0
 * decided at once. Infinity for a node whose shards do not report it.
 */
export async function replayedSeqnum(client: UpstreamClient): Promise<number> {
  const { shardInfos } = await client.info();
  if (!shardInfos.some(({ shardId }) => shardId === BLOCK_SHARD)) return Number.POSITIVE_INFINITY;
  let replayed = Number.POSITIVE_INFINITY;
  for (const { shardId, maxHeight } of shardInfos) {
    if (shardId === BLOCK_SHARD) continue;
    replayed = Math.min(replayed, (await replayedInBlock(client, shardId, maxHeight)) ?? replayed);
  }
  return replayed;
}

/**
 * Returns the number of the last event of shard 0 that a data shard has repeated up to a block; undefined if the upstream
 * does not report it.
 */
export async function replayedInBlock(
  client: UpstreamClient,
  shard: number,
  block: number,
): Promise<number | undefined> {
  const [event] = await client.events(shard, firstEventId(block), firstEventId(block + 1), 1);
  return event?.body?.$case === "blockConfirmed" ? event.body.value.maxBlockEventSeqnum : undefined;
}
