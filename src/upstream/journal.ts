import type { IndexDatabase } from "../db/index/database.ts";
import { type JournaledBlock, journaledBlocksAfter } from "../db/index/upstream-work.ts";
import { firstEventId } from "../protocol/hub-event-id.ts";
import { HubEventType } from "../protocol/wire/generated/hub.ts";
import { FollowedBlock, FollowedEvents } from "../protocol/wire/generated/upstream.ts";
import type { ShardBlock } from "./block-assembler.ts";
import { numberOf } from "./chain-blocks.ts";
import { BLOCK_SHARD } from "./positions.ts";

const BLOCKS_PER_READ = 200;

/** Encodes a block of a data shard for the journal. The confirming event comes first, as on the wire. */
export function toJournal({ number, timestamp, hash, seqnum, events }: ShardBlock): JournaledBlock {
  const confirmed = {
    type: HubEventType.HUB_EVENT_TYPE_BLOCK_CONFIRMED,
    id: firstEventId(number),
    body: {
      $case: "blockConfirmed" as const,
      value: {
        blockNumber: number,
        shardIndex: 0,
        timestamp,
        blockHash: hash,
        totalEvents: events.length + 1,
        eventCountsByType: {},
        maxBlockEventSeqnum: seqnum,
      },
    },
  };
  return { block: number, bytes: FollowedEvents.encode({ events: [confirmed, ...events] }).finish() };
}

/** Encodes a block of shard 0 for the journal. */
export function chainBlockToJournal(block: FollowedBlock): JournaledBlock {
  return { block: numberOf(block), bytes: FollowedBlock.encode(block).finish() };
}

/** Yields the journaled blocks of a data shard after `after`. */
export function* journaledShardBlocks(
  db: IndexDatabase,
  shard: number,
  after: number,
): Generator<ShardBlock> {
  for (const { block, bytes } of journaledBlocks(db, shard, after)) {
    const [confirmed, ...events] = FollowedEvents.decode(bytes).events;
    const body = confirmed?.body;
    if (body?.$case !== "blockConfirmed") throw new Error(`block ${block} of the journal is corrupt`);
    const { timestamp, blockHash, maxBlockEventSeqnum } = body.value;
    yield { number: block, timestamp, hash: blockHash, seqnum: maxBlockEventSeqnum, events };
  }
}

/** Yields the journaled blocks of shard 0 after `after`. */
export function* journaledChainBlocks(db: IndexDatabase, after: number): Generator<FollowedBlock> {
  for (const { bytes } of journaledBlocks(db, BLOCK_SHARD, after)) yield FollowedBlock.decode(bytes);
}

function* journaledBlocks(db: IndexDatabase, shard: number, after: number): Generator<JournaledBlock> {
  let last = after;
  for (;;) {
    const blocks = journaledBlocksAfter(db, shard, last, BLOCKS_PER_READ);
    yield* blocks;
    const newest = blocks.at(-1);
    if (!newest) return;
    last = newest.block;
  }
}
