import { type UnknownRecord, unknownAfter } from "../../db/index/unknown-records.ts";
import type { RelayedOp } from "../../ingest/relayed-op.ts";
import { firstEventId } from "../../protocol/hub-event-id.ts";
import { toFarcasterSecs } from "../../protocol/time.ts";
import { BlockEventType } from "../../protocol/wire/generated/block.ts";
import { HubEventType } from "../../protocol/wire/generated/hub.ts";
import {
  type FollowedBlock,
  FollowedBlockEvent,
  FollowedEvent,
} from "../../protocol/wire/generated/upstream.ts";
import { relayedBlocks } from "../blocks/block-operations.ts";
import { relayedChainBlocks } from "../blocks/chain-operations.ts";
import type { RelayRules } from "../blocks/validate-relayed.ts";
import { BoundedReader } from "../calls/decode/bounded-reader.ts";
import { isKnownHubEvent } from "../calls/decode/unknown-records.ts";
import { BLOCK_SHARD } from "../positions.ts";
import type { StageDeps } from "../stage.ts";

const RECORDS_PER_READ = 100;

/**
 * Applies the records that an earlier version of the program kept because it did not know their kind, as far as this version
 * does. The upstream is not asked, because it may no longer have them.
 */
export async function recoverUnknown({ db, rules, writer, signal }: StageDeps): Promise<void> {
  let last = 0;
  while (!signal.aborted) {
    const records = unknownAfter(db, last, RECORDS_PER_READ);
    const newest = records.at(-1);
    if (!newest) return;
    last = newest.id;
    const known = records.flatMap((record) => {
      const ops = operationsOf(rules, record);
      return ops ? [{ id: record.id, ops }] : [];
    });
    if (known.length === 0) continue;
    const ops = known.flatMap((one) => one.ops);
    await writer.apply({ ops, positions: [], recovered: known.map(({ id }) => id) });
  }
}

/** Returns the operations of a kept record; undefined while it is still not known. */
function operationsOf(rules: RelayRules, record: UnknownRecord): readonly RelayedOp[] | undefined {
  const read = record.shard === BLOCK_SHARD ? readOfChain(rules, record) : readOfShard(rules, record);
  return read && read.unknown.length === 0 ? read.ops : undefined;
}

function readOfChain(rules: RelayRules, record: UnknownRecord) {
  const event = blockEventOf(record);
  if (!event || BlockEventType[event.data?.type ?? 0] === undefined) return undefined;
  // The time of the decision is not stored, so it counts as decided now.
  const block: FollowedBlock = {
    header: {
      height: { shardIndex: BLOCK_SHARD, blockNumber: record.block },
      timestamp: toFarcasterSecs(rules.nowUnixSecs),
    },
    events: [event],
  };
  return relayedChainBlocks(rules, [block], { isJournal: true });
}

function blockEventOf({ kind, position: seqnum, bytes }: UnknownRecord): FollowedBlockEvent | undefined {
  switch (kind) {
    case "block_event":
      return FollowedBlockEvent.decode(new BoundedReader(bytes));
    case "message": {
      const body = { $case: "merged" as const, value: { message: bytes } };
      return {
        data: { seqnum, type: BlockEventType.BLOCK_EVENT_TYPE_MERGE_MESSAGE, blockTimestamp: 0, body },
      };
    }
    case "on_chain_event": {
      const body = { $case: "onChainEvent" as const, value: { event: bytes } };
      return {
        data: { seqnum, type: BlockEventType.BLOCK_EVENT_TYPE_MERGE_ON_CHAIN_EVENT, blockTimestamp: 0, body },
      };
    }
    default:
      return undefined;
  }
}

function readOfShard(rules: RelayRules, record: UnknownRecord) {
  const event = hubEventOf(record);
  if (!event || !isKnownHubEvent(event.type)) return undefined;
  const { shard, block: number } = record;
  const block = {
    number,
    timestamp: toFarcasterSecs(rules.nowUnixSecs),
    hash: new Uint8Array(),
    seqnum: 0,
    events: [event],
  };
  // Its position in the log of hub events has passed.
  return relayedBlocks({ ...rules, logsHubEvents: false }, { shard, isJournal: true }, [block]);
}

function hubEventOf({ kind, block, position, bytes }: UnknownRecord): FollowedEvent | undefined {
  const id = position || firstEventId(block);
  switch (kind) {
    case "hub_event":
      return FollowedEvent.decode(new BoundedReader(bytes));
    case "message": {
      const body = { $case: "merge" as const, value: { message: bytes, deletedMessages: [] } };
      return { type: HubEventType.HUB_EVENT_TYPE_MERGE_MESSAGE, id, body };
    }
    case "on_chain_event": {
      const body = { $case: "onChainEvent" as const, value: { event: bytes } };
      return { type: HubEventType.HUB_EVENT_TYPE_MERGE_ON_CHAIN_EVENT, id, body };
    }
    default:
      return undefined;
  }
}
