import type { IndexDatabase } from "../../db/index/database.ts";
import { type JournaledBlock, journaledBlocksAfter } from "../../db/index/upstream-work.ts";
import { firstEventId } from "../../protocol/hub-event-id.ts";
import { HubEventType } from "../../protocol/wire/generated/hub.ts";
import { FollowedBlock, JournaledEvents } from "../../protocol/wire/generated/upstream.ts";
import type { ShardBlock } from "../calls/decode/block-assembler.ts";
import { BLOCK_SHARD } from "../positions.ts";
import { numberOf } from "./chain-blocks.ts";

const BLOCKS_PER_READ = 200;

/**
 * Encodes a block of a data shard for the journal. The confirming event comes first, as on the wire.
 *
 * @param keyRecords what its verified chunk says besides its events.
 */
export function toJournal(
  { number, timestamp, hash, seqnum, events }: ShardBlock,
  keyRecords: readonly Uint8Array[],
): JournaledBlock {
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
  const journaled = { events: [confirmed, ...events], keyRecords: [...keyRecords] };
  return { block: number, bytes: JournaledEvents.encode(journaled).finish() };
}

/** Encodes a block of shard 0 for the journal. */
export function chainBlockToJournal(block: FollowedBlock): JournaledBlock {
  return { block: numberOf(block), bytes: FollowedBlock.encode(block).finish() };
}

/** A journaled block, with what its verified chunk said besides its events. */
export interface JournaledShardBlock extends ShardBlock {
  readonly keyRecords: readonly Uint8Array[];
}

/** Yields the journaled blocks of a data shard after `after`. */
export function* journaledShardBlocks(
  db: IndexDatabase,
  shard: number,
  after: number,
): Generator<JournaledShardBlock> {
  for (const { block, bytes } of journaledBlocks(db, shard, after)) {
    const { events: all, keyRecords } = JournaledEvents.decode(bytes);
    const [confirmed, ...events] = all;
    const body = confirmed?.body;
    if (body?.$case !== "blockConfirmed") throw new Error(`block ${block} of the journal is corrupt`);
    const { timestamp, blockHash, maxBlockEventSeqnum } = body.value;
    yield { number: block, timestamp, hash: blockHash, seqnum: maxBlockEventSeqnum, events, keyRecords };
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
