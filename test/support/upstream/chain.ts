import { createHash } from "node:crypto";
import type { IndexDatabase } from "../../../src/db/index/database.ts";
import { toWire } from "../../../src/protocol/message/signed-message.ts";
import { toFarcasterSecs } from "../../../src/protocol/time.ts";
import type {
  Block,
  BlockEvent,
  ShardChunk,
  Transaction,
  ValidatorMessage,
} from "../../../src/protocol/wire/generated/block.ts";
import { type HubEvent, HubEventType } from "../../../src/protocol/wire/generated/hub.ts";
import { FarcasterNetwork, Message, MessageType } from "../../../src/protocol/wire/generated/message.ts";
import type { OnChainEvent } from "../../../src/protocol/wire/generated/on-chain.ts";
import { dumpFollowed } from "./followed.ts";
import { dataOf, eventsOf } from "./hub-events.ts";
import { type GaslessKeys, type Outcome, Reference } from "./reference.ts";
import { type Action, makeScript, type Tick } from "./script.ts";
import { DATA_SHARDS, shardOf } from "./shards.ts";

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

/** A block of shard 0, with its changes of lends. */
export interface ZeroBlock {
  readonly height: number;
  readonly block: Block;
  readonly events: readonly HubEvent[];
}

/** The blocks of one second: one of each shard. */
export interface ChainTick {
  readonly at: number;
  readonly zero: ZeroBlock;
  readonly data: readonly DataBlock[];
}

/** A scripted network, and the index of a node that received all of it in order. */
export class Chain {
  readonly ticks: ChainTick[] = [];
  readonly reference: Reference;
  readonly #player: Player;
  #dump: string | undefined;
  /** Unix seconds of its end. */
  endsAt = 0;

  constructor(network?: FarcasterNetwork) {
    this.reference = new Reference(network);
    this.#player = new Player(this.reference);
  }

  /** Adds one second. */
  add(tick: Tick): void {
    this.ticks.push(this.#player.play(tick, this.ticks.length));
    this.endsAt = tick.at;
    this.#dump = undefined;
  }

  /** The expected contents of a follower's index at the end of the chain. */
  get referenceDump(): string {
    this.#dump ??= this.dumpOf(this.reference.db);
    return this.#dump;
  }

  /** What is compared with that of an index. */
  dumpOf(db: IndexDatabase): string {
    return dumpFollowed(db, this.reference.hiddenNames());
  }
}

/** As on mainnet, where ids of events need more than 32 bits. */
const FIRST_HEIGHT: Readonly<Record<number, number>> = { 0: 18_000_000, 1: 21_000_000, 2: 20_500_000 };
const EVENTS_PER_BLOCK = 2 ** 14;
const HEARTBEAT_EVERY = 10;

/** The first id of a block's events. */
export function eventId(height: number, seq: number): number {
  return height * EVENTS_PER_BLOCK + seq;
}

export function heightAt(shard: number, tick: number): number {
  return (FIRST_HEIGHT[shard] ?? 0) + tick;
}

/** @param network default: mainnet. */
export function makeChain(seed: string, ticks: number, network?: FarcasterNetwork): Chain {
  const chain = new Chain(network);
  for (const tick of makeScript(seed, ticks, network)) chain.add(tick);
  return chain;
}

/** A chain that the program follows with the setting `protocol.network=devnet`: elsewhere it believes the real name server only. */
export function makeDevnetChain(seed: string, ticks: number): Chain {
  return makeChain(seed, ticks, FarcasterNetwork.FARCASTER_NETWORK_DEVNET);
}

/** An action with its outcome. */
interface Done {
  readonly action: Action;
  readonly outcome: Outcome;
  readonly events: readonly HubEvent[];
}

class Player {
  /** Messages that shard 0 merged and the data shards replay a second later. */
  #fromZero: { done: Done; blockEvent: BlockEvent }[] = [];
  #seqnum = 0;
  #replayedSeqnum = 0;
  #fnameTransferId = 0;

  constructor(readonly reference: Reference) {}

  /** The order of a block: chain events, names, what comes from shard 0, messages. */
  play(tick: Tick, n: number): ChainTick {
    this.reference.clock.advanceSecs(tick.at - Math.floor(this.reference.clock.nowMs() / 1000));
    this.reference.startBlock();
    const replayed = this.#fromZero;
    const chain = this.#apply(tick, (action) => action.record.kind === "onChainEvent");
    const names = this.#apply(tick, (action) => action.record.kind === "usernameProof");
    const zero = this.#zeroBlock(tick, n, chain);
    const messages = this.#apply(
      tick,
      (action) => action.record.kind === "message" && !isOfShardZero(action),
    );
    const touched = [...messages, ...this.#fromZero.map(({ done }) => done)];
    const keys = [...new Set(touched.map(({ action }) => action.fid))].map((fid) =>
      this.reference.gaslessKeysOf(fid),
    );
    const appNonces = this.reference.appNonces();
    this.#replayedSeqnum = replayed.at(-1)?.blockEvent.data?.seqnum ?? this.#replayedSeqnum;
    const data = DATA_SHARDS.map((shard): DataBlock => {
      const own = (done: Done) => shardOf(done.action.fid) === shard;
      const transactions = [
        ...chain
          .filter(own)
          .map(({ action, outcome }) => systemOf(action.fid, { onChainEvent: eventOf(outcome) })),
        ...names.map((done) => this.#transferOf(done)),
        ...replayed.map(({ blockEvent }) => systemOf(0, { blockEvent })),
        ...messages.filter(own).map(({ action, outcome }) => userOf(action.fid, outcome)),
      ];
      const events = [
        ...chain.filter(own).flatMap(({ events }) => events),
        ...names.flatMap(({ events }) => events.filter((event) => concerns(event, shard))),
        ...replayed.flatMap(({ done }) => done.events),
        ...messages.filter(own).flatMap(({ events }) => events),
      ];
      return dataBlock(shard, heightAt(shard, n), tick.at, {
        events,
        transactions,
        maxSeqnum: this.#replayedSeqnum,
        gaslessKeys: keys.filter(({ fid }) => shardOf(fid) === shard),
        appNonces,
      });
    });
    return { at: tick.at, zero, data };
  }

  #apply(tick: Tick, which: (action: Action) => boolean): Done[] {
    return tick.actions.filter(which).map((action) => {
      const outcome = this.reference.apply(action.record);
      return { action, outcome, events: eventsOf(outcome) };
    });
  }

  #zeroBlock(tick: Tick, n: number, chain: readonly Done[]): ZeroBlock {
    const height = heightAt(0, n);
    const done = this.#apply(tick, isOfShardZero).filter(({ events }) => events.some(isMerge));
    const events: BlockEvent[] = [];
    const push = (body: NonNullable<BlockEvent["data"]>["body"]) => {
      this.#seqnum += 1;
      const type = body?.$case === "mergeMessageEventBody" ? 1 : 0;
      const index = events.length;
      const event: BlockEvent = {
        hash: sha256(`block event ${this.#seqnum}`).subarray(0, 20),
        data: {
          seqnum: this.#seqnum,
          type,
          blockNumber: height,
          eventIndex: index,
          blockTimestamp: toFarcasterSecs(tick.at),
          body,
        },
      };
      events.push(event);
      return event;
    };
    if (n % HEARTBEAT_EVERY === 0) push({ $case: "heartbeatEventBody", value: {} });
    this.#fromZero = done.map((one) => ({
      done: one,
      blockEvent: push({ $case: "mergeMessageEventBody", value: { message: messageOf(one.outcome) } }),
    }));
    const transactions = [
      ...chain.map(({ action, outcome }) => systemOf(action.fid, { onChainEvent: eventOf(outcome) })),
      ...done.map(({ action, outcome }) => userOf(action.fid, outcome)),
    ];
    const header = { height: { shardIndex: 0, blockNumber: height }, timestamp: toFarcasterSecs(tick.at) };
    const block = { header, hash: sha256(`block ${height}`), transactions, events };
    return { height, block, events: done.flatMap((one) => one.events) };
  }

  #transferOf({ action, outcome }: Done): Transaction {
    this.#fnameTransferId += 1;
    const proof = outcome.record.kind === "usernameProof" ? outcome.record.proof : undefined;
    const fnameTransfer = { id: this.#fnameTransferId, fromFid: action.fromFid ?? 0, proof };
    return systemOf(action.fid, { fnameTransfer });
  }
}

interface BlockParts {
  readonly events: readonly HubEvent[];
  readonly transactions: readonly Transaction[];
  readonly maxSeqnum: number;
  readonly gaslessKeys: readonly GaslessKeys[];
  readonly appNonces: ReadonlyMap<number, number>;
}

function dataBlock(shard: number, height: number, at: number, parts: BlockParts): DataBlock {
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

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

const SHARD_ZERO_TYPES: readonly MessageType[] = [
  MessageType.MESSAGE_TYPE_LEND_STORAGE,
  MessageType.MESSAGE_TYPE_KEY_ADD,
  MessageType.MESSAGE_TYPE_KEY_REMOVE,
];

function isOfShardZero({ record }: Action): boolean {
  return record.kind === "message" && SHARD_ZERO_TYPES.includes(dataOf(Message.decode(record.bytes)).type);
}

function isMerge({ type }: HubEvent): boolean {
  return type === HubEventType.HUB_EVENT_TYPE_MERGE_MESSAGE;
}

/** Whether a shard reports an event of a name: all shards do, except that only the fid's own shard reports a revocation. */
function concerns({ body }: HubEvent, shard: number): boolean {
  if (body?.$case !== "revokeMessageBody" || !body.value.message) return true;
  return shardOf(dataOf(body.value.message).fid) === shard;
}

/** Events of gasless keys have no id and are never logged. */
export function isKeyEvent({ body }: HubEvent): boolean {
  if (body?.$case !== "mergeMessageBody" || !body.value.message) return false;
  const { type } = dataOf(body.value.message);
  return type === MessageType.MESSAGE_TYPE_KEY_ADD || type === MessageType.MESSAGE_TYPE_KEY_REMOVE;
}

function systemOf(fid: number, message: Partial<ValidatorMessage>): Transaction {
  const nothing = { onChainEvent: undefined, fnameTransfer: undefined, blockEvent: undefined };
  return { fid, userMessages: [], systemMessages: [{ ...nothing, ...message }] };
}

function userOf(fid: number, outcome: Outcome): Transaction {
  return {
    fid,
    userMessages: [messageOf(outcome)].filter((message) => message !== undefined),
    systemMessages: [],
  };
}

function messageOf({ record }: Outcome): Message | undefined {
  return record.kind === "message" ? toWire(record.message) : undefined;
}

function eventOf({ record }: Outcome): OnChainEvent | undefined {
  return record.kind === "onChainEvent" ? record.event : undefined;
}
