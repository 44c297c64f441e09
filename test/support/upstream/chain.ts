import type { IndexDatabase } from "../../../src/db/index/database.ts";
import { type EngineSchedule, engineSchedule } from "../../../src/protocol/network/engine-versions.ts";
import { toFarcasterSecs } from "../../../src/protocol/time.ts";
import type { Block, BlockEvent, Transaction } from "../../../src/protocol/wire/generated/block.ts";
import { type HubEvent, HubEventType } from "../../../src/protocol/wire/generated/hub.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { DEFAULT_NOW_SECS } from "../messages.ts";
import {
  type DataBlock,
  dataBlock,
  eventOf,
  heightAt,
  messageOf,
  sha256,
  systemOf,
  userOf,
} from "./blocks.ts";
import { DecidingShard, isDecidedByChannelEngine } from "./deciding-shard.ts";
import { dumpFollowed } from "./followed.ts";
import { dataOf, eventsOf } from "./hub-events.ts";
import { type Outcome, Reference } from "./reference.ts";
import { type Replay, ReplayQueue } from "./replay-queue.ts";
import { type Action, isOfShardZero, makeScript, type Tick } from "./script.ts";
import { DATA_SHARDS, shardOf } from "./shards.ts";

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

/** When engine V21 takes effect on a chain. */
export interface Boundary {
  /** Unix seconds. */
  readonly activeAt: number;
  readonly schedule: EngineSchedule;
  /** What a follower knows. */
  readonly followed: EngineSchedule;
}

/** A scripted network, and the index of a node that received all of it in order. */
export class Chain {
  readonly ticks: ChainTick[] = [];
  readonly reference: Reference;
  readonly #player: Player;
  #dump: string | undefined;
  /** Unix seconds of its end. */
  endsAt = 0;

  constructor(
    readonly network: FarcasterNetwork = FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    readonly boundary?: Boundary,
  ) {
    this.reference = new Reference(network, boundary?.schedule);
    this.#player = new Player(this.reference, boundary);
  }

  /** What shard 0 decided since engine V21; undefined on a chain without it. */
  get decided(): DecidingShard | undefined {
    return this.#player.deciding;
  }

  /** Whether the data shards have replayed all of shard 0. */
  get isReplayed(): boolean {
    return this.#player.isReplayed;
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

/** @param network default: mainnet. */
export function makeChain(seed: string, ticks: number, network?: FarcasterNetwork): Chain {
  const chain = new Chain(network);
  for (const tick of makeScript(seed, ticks, { network })) chain.add(tick);
  return chain;
}

/** A chain that the program follows with the setting `protocol.network=devnet`: elsewhere it believes the real name server only. */
export function makeDevnetChain(seed: string, ticks: number): Chain {
  return makeChain(seed, ticks, DEVNET);
}

/** The seconds of a chain that goes over the boundary of engine V21, without those until all is replayed. */
export interface BoundaryTicks {
  readonly before: number;
  readonly after: number;
  /** Unix seconds. */
  readonly startsAt?: number;
  /** Default: devnet. On another network a follower knows no date for the version. */
  readonly network?: FarcasterNetwork;
}

/** Beyond this, the replays of a chain do not end. */
const MAX_REPLAY_SECS = 3000;

const DEVNET = FarcasterNetwork.FARCASTER_NETWORK_DEVNET;

/** A chain that engine V21 reaches after `before` seconds. Its data shards fall behind, and it ends when they have replayed all. */
export function makeBoundaryChain(
  seed: string,
  { before, after, startsAt = DEFAULT_NOW_SECS, network = DEVNET }: BoundaryTicks,
): Chain {
  const activeAt = startsAt + before;
  const schedule = engineSchedule(network, [`21=${activeAt}`]);
  const followed = network === DEVNET ? schedule : engineSchedule(network);
  const chain = new Chain(network, { activeAt, schedule, followed });
  for (const tick of makeScript(seed, before + after, { network, boundary: before, startsAt }))
    chain.add(tick);
  const last = chain.ticks.length + MAX_REPLAY_SECS;
  while (!chain.isReplayed && chain.ticks.length < last) chain.add({ at: chain.endsAt + 1, actions: [] });
  if (!chain.isReplayed) throw new Error("the data shards do not replay all");
  return chain;
}

/** An action with its outcome. */
interface Done {
  readonly action: Action;
  readonly outcome: Outcome;
  readonly events: readonly HubEvent[];
}

const HEARTBEAT_EVERY = 10;

class Player {
  readonly deciding: DecidingShard | undefined;
  readonly #queues = new Map(
    DATA_SHARDS.map((shard) => [shard as number, new ReplayQueue(`replays of ${shard}`)]),
  );
  #seqnum = 0;
  #fnameTransferId = 0;

  constructor(
    readonly reference: Reference,
    boundary: Boundary | undefined,
  ) {
    this.deciding = boundary && new DecidingShard(reference, boundary.activeAt);
  }

  get isReplayed(): boolean {
    return [...this.#queues.values()].every(({ isEmpty }) => isEmpty);
  }

  /** The order of a block: chain events, names, what comes from shard 0, messages. */
  play(tick: Tick, n: number): ChainTick {
    this.reference.clock.advanceSecs(tick.at - Math.floor(this.reference.clock.nowMs() / 1000));
    this.reference.startBlock();
    const isDecided = (action: Action) =>
      this.deciding !== undefined && tick.at >= this.deciding.activeAt && isDecidedByChannelEngine(action);
    const chain = this.#apply(tick, (action) => action.record.kind === "onChainEvent" && !isDecided(action));
    const names = this.#apply(tick, (action) => action.record.kind === "usernameProof");
    const isLate = tick.at > (this.deciding?.activeAt ?? Number.POSITIVE_INFINITY);
    const replays = new Map(
      [...this.#queues].map(([shard, queue]) => [
        shard,
        queue.take(n, isLate).map((replay) => ({ ...replay, own: replay.eventsOf(shard) })),
      ]),
    );
    const { zero, done } = this.#zeroBlock(tick, n, { chain, decided: tick.actions.filter(isDecided) });
    const messages = this.#apply(
      tick,
      (action) => action.record.kind === "message" && !isOfShardZero(action) && !isDecided(action),
    );
    const keys = [...new Set([...messages, ...done].map(({ action }) => action.fid))].map((fid) =>
      this.reference.gaslessKeysOf(fid),
    );
    const appNonces = this.reference.appNonces();
    const data = DATA_SHARDS.map((shard): DataBlock => {
      const own = (done: Done) => shardOf(done.action.fid) === shard;
      const replayed = replays.get(shard) ?? [];
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
        ...replayed.flatMap((replay) => replay.own),
        ...messages.filter(own).flatMap(({ events }) => events),
      ];
      return dataBlock(shard, heightAt(shard, n), tick.at, {
        events,
        transactions,
        maxSeqnum: this.#queues.get(shard)?.newest ?? 0,
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

  #zeroBlock(
    tick: Tick,
    n: number,
    { chain, decided }: { readonly chain: readonly Done[]; readonly decided: readonly Action[] },
  ): { readonly zero: ZeroBlock; readonly done: readonly Done[] } {
    const height = heightAt(0, n);
    const done = this.#apply(tick, isOfShardZero).filter(({ events }) => events.some(isMerge));
    const events: BlockEvent[] = [];
    const push = (
      body: NonNullable<BlockEvent["data"]>["body"],
      replay: Pick<Replay, "fid" | "eventsOf">,
    ) => {
      this.#seqnum += 1;
      const blockEvent: BlockEvent = {
        hash: sha256(`block event ${this.#seqnum}`).subarray(0, 20),
        data: {
          seqnum: this.#seqnum,
          type: EVENT_TYPE[body?.$case ?? "heartbeatEventBody"],
          blockNumber: height,
          eventIndex: events.length,
          blockTimestamp: toFarcasterSecs(tick.at),
          body,
        },
      };
      events.push(blockEvent);
      for (const queue of this.#queues.values())
        queue.add({ ...replay, seqnum: this.#seqnum, blockEvent }, n);
    };
    if (n % HEARTBEAT_EVERY === 0)
      push({ $case: "heartbeatEventBody", value: {} }, { fid: 0, eventsOf: () => [] });
    for (const { action, outcome, events } of done)
      push(
        { $case: "mergeMessageEventBody", value: { message: messageOf(outcome) } },
        { fid: action.fid, eventsOf: () => events },
      );
    const transactions = [
      ...chain.map(({ action, outcome }) => systemOf(action.fid, { onChainEvent: eventOf(outcome) })),
      ...done.map(({ action, outcome }) => userOf(action.fid, outcome)),
    ];
    for (const action of decided) {
      const decision = this.deciding?.decide(action, {
        seqnum: this.#seqnum + 1,
        decidedAt: tick.at,
        tick: n,
      });
      if (!decision) continue;
      push(decision.body, decision);
      transactions.push(decision.transaction);
    }
    const header = { height: { shardIndex: 0, blockNumber: height }, timestamp: toFarcasterSecs(tick.at) };
    const block = { header, hash: sha256(`block ${height}`), transactions, events };
    return { zero: { height, block, events: done.flatMap((one) => one.events) }, done };
  }

  #transferOf({ action, outcome }: Done): Transaction {
    this.#fnameTransferId += 1;
    const proof = outcome.record.kind === "usernameProof" ? outcome.record.proof : undefined;
    const fnameTransfer = { id: this.#fnameTransferId, fromFid: action.fromFid ?? 0, proof };
    return systemOf(action.fid, { fnameTransfer });
  }
}

const EVENT_TYPE = { heartbeatEventBody: 0, mergeMessageEventBody: 1, mergeOnChainEventBody: 2 } as const;

function isMerge({ type }: HubEvent): boolean {
  return type === HubEventType.HUB_EVENT_TYPE_MERGE_MESSAGE;
}

/** Whether a shard reports an event of a name: all shards do, except that only the fid's own shard reports a revocation. */
function concerns({ body }: HubEvent, shard: number): boolean {
  if (body?.$case !== "revokeMessageBody" || !body.value.message) return true;
  return shardOf(dataOf(body.value.message).fid) === shard;
}
