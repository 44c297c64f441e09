import { firstEventId } from "../../protocol/hub-event-id.ts";
import type { UpstreamClient } from "../calls/client.ts";
import { BLOCK_SHARD } from "../positions.ts";

/**
 * Returns the number of the last event of shard 0 that all data shards of the upstream have repeated. Its responses about channels,
 * owners and verifications come from the data shards, which may be minutes behind; an index has what shard 0 decided at once.
 * Infinity for a node whose shards do not say it.
 */
export async function replayedSeqnum(client: UpstreamClient): Promise<number> {
  const { shardInfos } = await client.info();
  if (!shardInfos.some(({ shardId }) => shardId === BLOCK_SHARD)) return Number.POSITIVE_INFINITY;
  let replayed = Number.POSITIVE_INFINITY;
  for (const { shardId, maxHeight } of shardInfos) {
    if (shardId === BLOCK_SHARD) continue;
    const [event] = await client.events(shardId, firstEventId(maxHeight), firstEventId(maxHeight + 1), 1);
    if (event?.body?.$case === "blockConfirmed")
      replayed = Math.min(replayed, event.body.value.maxBlockEventSeqnum);
  }
  return replayed;
}
