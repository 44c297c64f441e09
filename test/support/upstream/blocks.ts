import { createHash } from "node:crypto";
import { toWire } from "../../../src/protocol/message/signed-message.ts";
import { toFarcasterSecs } from "../../../src/protocol/time.ts";
import type {
  ShardChunk,
  Transaction,
  ValidatorMessage,
} from "../../../src/protocol/wire/generated/block.ts";
import { type HubEvent, HubEventType } from "../../../src/protocol/wire/generated/hub.ts";
import { type Message, MessageType } from "../../../src/protocol/wire/generated/message.ts";
import type { OnChainEvent } from "../../../src/protocol/wire/generated/on-chain.ts";
import { dataOf } from "./hub-events.ts";
import type { GaslessKeys, Outcome } from "./reference.ts";

/** A block of a data shard. `events` are complete; the server omits fields on delivery. */
export interface DataBlock {
  readonly shard: number;
  readonly height: number;
  /** Farcaster seconds. */
  readonly timestamp: number;
  /** BLOCK_CONFIRMED first; events of gasless keys have the id 0. */
  readonly events: readonly HubEvent[];
  readonly chunk: ShardChunk;
  /** Gasless keys of fids of this shard after the block. */
  readonly gaslessKeys: readonly GaslessKeys[];
  /** The nonces of apps over all users after the block. */
  readonly appNonces: ReadonlyMap<number, number>;
}

/** As on mainnet, where ids of events need more than 32 bits. */
const FIRST_HEIGHT: Readonly<Record<number, number>> = { 0: 18_000_000, 1: 21_000_000, 2: 20_500_000 };
const EVENTS_PER_BLOCK = 2 ** 14;

/** The first id of a block's events. */
export function eventId(height: number, seq: number): number {
  return height * EVENTS_PER_BLOCK + seq;
}

export function heightAt(shard: number, tick: number): number {
  return (FIRST_HEIGHT[shard] ?? 0) + tick;
}

interface BlockParts {
  readonly events: readonly HubEvent[];
  readonly transactions: readonly Transaction[];
  readonly maxSeqnum: number;
  readonly gaslessKeys: readonly GaslessKeys[];
  readonly appNonces: ReadonlyMap<number, number>;
}

export function dataBlock(shard: number, height: number, at: number, parts: BlockParts): DataBlock {
  const timestamp = toFarcasterSecs(at);
  let seq = 0;
  const stamped = parts.events.map((event): HubEvent => {
    if (isKeyEvent(event)) return { ...event, id: 0, blockNumber: 0, shardIndex: shard, timestamp };
    seq += 1;
    return { ...event, id: eventId(height, seq), blockNumber: height, shardIndex: shard, timestamp };
  });
  const hash = sha256(`chunk ${shard} ${height}`);
  const eventCountsByType: Record<number, number> = { [HubEventType.HUB_EVENT_TYPE_BLOCK_CONFIRMED]: 1 };
  for (const { type } of stamped) eventCountsByType[type] = (eventCountsByType[type] ?? 0) + 1;
  const confirmed: HubEvent = {
    type: HubEventType.HUB_EVENT_TYPE_BLOCK_CONFIRMED,
    id: eventId(height, 0),
    blockNumber: height,
    shardIndex: shard,
    timestamp,
    body: {
      $case: "blockConfirmedBody",
      value: {
        blockNumber: height,
        shardIndex: shard,
        timestamp,
        blockHash: hash,
        totalEvents: stamped.length + 1,
        eventCountsByType,
        maxBlockEventSeqnum: parts.maxSeqnum,
      },
    },
  };
  const header = { height: { shardIndex: shard, blockNumber: height }, timestamp };
  return {
    shard,
    height,
    timestamp,
    events: [confirmed, ...stamped],
    chunk: { header, hash, transactions: [...parts.transactions] },
    gaslessKeys: parts.gaslessKeys,
    appNonces: parts.appNonces,
  };
}

export function sha256(text: string | Uint8Array): Buffer {
  return createHash("sha256").update(text).digest();
}

export function systemOf(fid: number, message: Partial<ValidatorMessage>): Transaction {
  const nothing = { onChainEvent: undefined, fnameTransfer: undefined, blockEvent: undefined };
  return { fid, userMessages: [], systemMessages: [{ ...nothing, ...message }] };
}

export function userOf(fid: number, outcome: Outcome): Transaction {
  return {
    fid,
    userMessages: [messageOf(outcome)].filter((message) => message !== undefined),
    systemMessages: [],
  };
}

export function messageOf({ record }: Outcome): Message | undefined {
  return record.kind === "message" ? toWire(record.message) : undefined;
}

export function eventOf({ record }: Outcome): OnChainEvent | undefined {
  return record.kind === "onChainEvent" ? record.event : undefined;
}

/** Events of gasless keys have no id and are never logged. */
export function isKeyEvent({ body }: HubEvent): boolean {
  if (body?.$case !== "mergeMessageBody" || !body.value.message) return false;
  const { type } = dataOf(body.value.message);
  return type === MessageType.MESSAGE_TYPE_KEY_ADD || type === MessageType.MESSAGE_TYPE_KEY_REMOVE;
}
