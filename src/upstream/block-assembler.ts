import { type BlockConfirmedBody, HubEventType } from "../protocol/wire/generated/hub.ts";
import type { FollowedEvent } from "../protocol/wire/generated/upstream.ts";
import { blockOfEvent } from "./shards.ts";

/** What is asked for by name: an empty list of types would be given nothing at all. */
export const FOLLOWED_TYPES: readonly HubEventType[] = [
  HubEventType.HUB_EVENT_TYPE_MERGE_MESSAGE,
  HubEventType.HUB_EVENT_TYPE_PRUNE_MESSAGE,
  HubEventType.HUB_EVENT_TYPE_REVOKE_MESSAGE,
  HubEventType.HUB_EVENT_TYPE_MERGE_USERNAME_PROOF,
  HubEventType.HUB_EVENT_TYPE_MERGE_ON_CHAIN_EVENT,
  HubEventType.HUB_EVENT_TYPE_BLOCK_CONFIRMED,
];

/** A block of a data shard that is known to be complete. */
export interface ShardBlock {
  readonly number: number;
  /** Farcaster seconds. */
  readonly timestamp: number;
  /** The newest event of shard 0 that this block rests on; 0 where it does not say. */
  readonly seqnum: number;
  /** Its events in order, without the one that confirms it and those that have no id. */
  readonly events: readonly FollowedEvent[];
}

const COUNTED_TYPES: ReadonlySet<HubEventType> = new Set(
  FOLLOWED_TYPES.filter((type) => type !== HubEventType.HUB_EVENT_TYPE_BLOCK_CONFIRMED),
);

/** The events of one block as they come in. */
export class OpenBlock {
  readonly #events = new Map<number, FollowedEvent>();
  /** Key operations stream by without an id, and without a way to ask for them again. */
  readonly #withoutId = new Set<string>();
  #confirmed: BlockConfirmedBody | undefined;
  #endsWithoutId = false;

  constructor(readonly number: number) {}

  /** Whether the newest event has no id, so that it may belong to the next block if that block's first event was lost. */
  get endsWithoutId(): boolean {
    return this.#endsWithoutId;
  }

  add(event: FollowedEvent): void {
    this.#endsWithoutId = event.id === 0;
    if (event.id === 0) this.#withoutId.add(fingerprint(event));
    else if (event.body?.$case === "blockConfirmed") this.#confirmed = event.body.value;
    else if (isCounted(event)) this.#events.set(event.id, event);
  }

  /**
   * By how many merges the block is short of what it announced: 0 when it is complete. Undefined when something else is
   * missing or too much, or nothing has been announced.
   */
  missingMerges(): number | undefined {
    const announced = this.#confirmed;
    if (!announced) return undefined;
    const counts = new Map<number, number>();
    for (const { type } of this.#events.values()) counts.set(type, (counts.get(type) ?? 0) + 1);
    const merge = HubEventType.HUB_EVENT_TYPE_MERGE_MESSAGE;
    counts.set(merge, (counts.get(merge) ?? 0) + this.#withoutId.size);
    if (Object.keys(announced.eventCountsByType).length === 0) {
      // A node that announces no types announces a sum, in which the announcement itself counts.
      return announced.totalEvents - 1 === this.#events.size + this.#withoutId.size ? 0 : undefined;
    }
    for (const type of COUNTED_TYPES) {
      if (type === merge) continue;
      if ((announced.eventCountsByType[type] ?? 0) !== (counts.get(type) ?? 0)) return undefined;
    }
    const missing = (announced.eventCountsByType[merge] ?? 0) - (counts.get(merge) ?? 0);
    return missing >= 0 ? missing : undefined;
  }

  /** The block as far as it has come in; only for one that has been confirmed. */
  close(): ShardBlock {
    if (!this.#confirmed) throw new Error(`block ${this.number} is not confirmed`);
    return {
      number: this.number,
      timestamp: this.#confirmed.timestamp,
      seqnum: this.#confirmed.maxBlockEventSeqnum,
      events: [...this.#events.values()].sort((a, b) => a.id - b.id),
    };
  }
}

/** Makes blocks of a stream that may begin within a block, repeat and leave out. */
export class BlockAssembler {
  #next: number;
  #open: OpenBlock | undefined;
  /** A complete block that the first event of the next one has confirmed as such. */
  #complete: ShardBlock | undefined;

  /** @param next number of the first block that is wanted. */
  constructor(next: number) {
    this.#next = next;
  }

  /** The number of the block that comes next. */
  get next(): number {
    return this.#next;
  }

  /** Takes an event. Answers the number of the last block that has to be asked for, from `next` on, if any has to. */
  push(event: FollowedEvent): number | undefined {
    if (event.id === 0) {
      this.#open?.add(event);
      return undefined;
    }
    const number = blockOfEvent(event.id);
    const newest = this.#open?.number ?? this.#next - 1;
    if (number < newest || number < this.#next) return undefined;
    // The announcement is the first event of its block, so events without an id that came before it belong to the
    // block before.
    if (event.body?.$case === "blockConfirmed" && number === this.#next + 1)
      this.#complete = this.#closeOpen();
    if (number > newest) this.#open = new OpenBlock(number);
    this.#open?.add(event);
    return number > newest && number > this.#next ? number - 1 : undefined;
  }

  /** The blocks up to `number` have come from elsewhere. */
  skipTo(number: number): void {
    this.#next = number + 1;
    this.#complete = undefined;
    if (this.#open && this.#open.number <= number) this.#open = undefined;
  }

  /**
   * The next block, once it is complete. A block whose newest event has no id is complete only with the first event of
   * the next block: without that one, the event may stand for a lost merge of this block.
   */
  take(): ShardBlock | undefined {
    const complete = this.#complete ?? (this.#open?.endsWithoutId ? undefined : this.#closeOpen());
    this.#complete = undefined;
    return complete;
  }

  /** Closes the open block if it is the next one and complete. */
  #closeOpen(): ShardBlock | undefined {
    const open = this.#open;
    if (!open || open.number !== this.#next || open.missingMerges() !== 0) return undefined;
    this.#open = undefined;
    this.#next += 1;
    return open.close();
  }
}

function isCounted({ type }: FollowedEvent): boolean {
  return COUNTED_TYPES.has(type);
}

function fingerprint({ body }: FollowedEvent): string {
  return body?.$case === "merge" ? Buffer.from(body.value.message).toString("latin1") : "";
}
