import type { IndexDatabase } from "../../../src/db/index/database.ts";
import { getPosition } from "../../../src/db/index/positions.ts";
import { isChannelMessage } from "../../../src/protocol/channels/slots.ts";
import type { HubEvent } from "../../../src/protocol/wire/generated/hub.ts";
import { type Message, type MessageData, MessageType } from "../../../src/protocol/wire/generated/message.ts";
import { liveHashes } from "../live-messages.ts";
import { heightAt, isKeyEvent } from "./blocks.ts";
import type { Chain } from "./chain.ts";
import { isVerification } from "./deciding-shard.ts";
import type { CommitCheck } from "./followed-index.ts";
import { dataOf } from "./hub-events.ts";
import { DATA_SHARDS, shardOf } from "./shards.ts";

/** The ticks at which a message was live: from the first up to, but not including, the second. */
interface Span {
  readonly from: number;
  to: number;
}

/** The live messages of each shard at each tick, to check the contents of an index against. */
export class Lifetimes {
  readonly #byShard = new Map<number, Map<string, Span[]>>(
    [0, ...DATA_SHARDS].map((shard) => [shard, new Map()]),
  );

  readonly #isIgnored: (message: Message) => boolean;

  /** Since engine V21 what shard 0 decides is there before the shard of its author has it: see `decisionsCheck`. */
  constructor(chain: Chain) {
    this.#isIgnored = (message) => chain.decided !== undefined && isDecided(dataOf(message));
    for (const [tick, { zero, data }] of chain.ticks.entries()) {
      for (const event of zero.events) this.#take(0, tick, event);
      for (const { shard, events } of data) for (const event of events) this.#take(shard, tick, event);
    }
  }

  /**
   * Returns the messages of a shard that contradict a position in it: those that are missing but were live from the
   * position's tick up to the newest one, and those that are stored but were live at none of these ticks.
   */
  contradictions(shard: number, checkpoint: number, newest: number, held: ReadonlySet<string>): string[] {
    const found: string[] = [];
    for (const [hash, spans] of this.#byShard.get(shard) ?? []) {
      const isThere = held.has(hash);
      const isWhole = spans.some(({ from, to }) => from <= checkpoint && to > newest);
      const isPart = spans.some(({ from, to }) => from <= newest && to > checkpoint);
      if (isWhole && !isThere) found.push(`${hash} of shard ${shard} is missing at tick ${checkpoint}`);
      if (!isPart && isThere) found.push(`${hash} of shard ${shard} is still there at tick ${checkpoint}`);
    }
    return found;
  }

  #take(shard: number, tick: number, event: HubEvent): void {
    const { body } = event;
    if (isKeyEvent(event)) return;
    if (body?.$case === "mergeMessageBody") {
      for (const deleted of body.value.deletedMessages) this.#end(shard, tick, deleted);
      this.#begin(shard, tick, body.value.message);
    }
    if (body?.$case === "pruneMessageBody" || body?.$case === "revokeMessageBody")
      this.#end(shard, tick, body.value.message);
  }

  #begin(shard: number, tick: number, message: Message | undefined): void {
    if (!message || !isOf(shard, message) || this.#isIgnored(message)) return;
    const spans = this.#spans(shard, message);
    if (spans.at(-1)?.to !== Number.POSITIVE_INFINITY)
      spans.push({ from: tick, to: Number.POSITIVE_INFINITY });
  }

  #end(shard: number, tick: number, message: Message | undefined): void {
    if (!message || !isOf(shard, message) || this.#isIgnored(message)) return;
    const last = this.#spans(shard, message).at(-1);
    if (last) last.to = Math.min(last.to, tick);
  }

  #spans(shard: number, message: Message): Span[] {
    const hash = message.hash.toHex();
    const ofShard = this.#byShard.get(shard) ?? new Map<string, Span[]>();
    const spans = ofShard.get(hash) ?? [];
    ofShard.set(hash, spans);
    return spans;
  }
}

/** Lends are replayed on every shard. Those of shard 0 are first. */
function isOf(shard: number, message: Message): boolean {
  const { fid, type } = dataOf(message);
  return shard === (type === MessageType.MESSAGE_TYPE_LEND_STORAGE ? 0 : shardOf(fid));
}

function isDecided(data: MessageData): boolean {
  return isVerification(data.type) || isChannelMessage(data);
}

/** Compares an index with the lifetimes of the messages of its network. */
export function lifetimesCheck(lifetimes: Lifetimes): CommitCheck {
  return (db, node) => {
    const held = heldHashes(db);
    const appliedTick = (shard: number) => {
      const applied = getPosition(db, `upstream ${shard} applied`);
      return applied === undefined ? undefined : applied - heightAt(shard, 0);
    };
    const ticks = [0, ...DATA_SHARDS].map(appliedTick);
    return ticks.flatMap((tick, shard) => {
      if (tick === undefined) return [];
      // A lend is reported by shard 0 and, later, again by its lender's shard.
      const checkpoint = shard === 0 ? Math.min(...ticks.map((one) => one ?? -heightAt(0, 0))) : tick;
      return lifetimes.contradictions(shard, checkpoint, node.produced(shard) - 1, held);
    });
  };
}

/** Returns the hashes of all messages of an index. */
export function heldHashes(db: IndexDatabase): Set<string> {
  return new Set(liveHashes(db));
}
