import type { UnknownRecord } from "../../../db/index/unknown-records.ts";
import { blockOfEvent } from "../../../protocol/hub-event-id.ts";
import { type BlockConfirmedBody, HubEventType } from "../../../protocol/wire/generated/hub.ts";
import type { FollowedEvent } from "../../../protocol/wire/generated/upstream.ts";
import { isKnownHubEvent } from "./unknown-records.ts";

/** The event types to subscribe to. An empty list would subscribe to none. */
export const FOLLOWED_TYPES: readonly HubEventType[] = [
  HubEventType.HUB_EVENT_TYPE_MERGE_MESSAGE,
  HubEventType.HUB_EVENT_TYPE_PRUNE_MESSAGE,
  HubEventType.HUB_EVENT_TYPE_REVOKE_MESSAGE,
  HubEventType.HUB_EVENT_TYPE_MERGE_USERNAME_PROOF,
  HubEventType.HUB_EVENT_TYPE_MERGE_ON_CHAIN_EVENT,
  HubEventType.HUB_EVENT_TYPE_BLOCK_CONFIRMED,
  HubEventType.HUB_EVENT_TYPE_CHANNEL_OWNER_CHANGE_HINT,
];

/** A complete block of a data shard. */
export interface ShardBlock {
  readonly number: number;
  /** Farcaster seconds. */
  readonly timestamp: number;
  readonly hash: Uint8Array;
  /** The newest event of shard 0 that this block depends on; 0 if unknown. */
  readonly seqnum: number;
  /** Its events in order, without the confirming one and those without an id. */
  readonly events: readonly FollowedEvent[];
  /** Number of its events whose types this program does not know. They are not among `events`. */
  readonly unknownEvents?: number;
  /** The unknown events that the upstream has sent. */
  readonly unknown?: readonly UnknownRecord[];
}

const COUNTED_TYPES: ReadonlySet<HubEventType> = new Set(
  FOLLOWED_TYPES.filter((type) => type !== HubEventType.HUB_EVENT_TYPE_BLOCK_CONFIRMED),
);

/** Collects the events of one block. */
export class OpenBlock {
  readonly number: number;
  readonly #events = new Map<number, FollowedEvent>();
  /** Key operations are streamed without an id and cannot be requested again. */
  readonly #withoutId = new Set<string>();
  #confirmed: BlockConfirmedBody | undefined;
  #endsWithoutId = false;

  constructor(number: number) {
    this.number = number;
  }

  /** Whether the newest event has no id. It may belong to the next block, if that block's first event was lost. */
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
   * Returns how many merges are missing compared with the announced number: 0 if the block is complete. Undefined if other
   * events are missing or surplus, or if nothing has been announced yet.
   */
  missingMerges(): number | undefined {
    const announced = this.#confirmed;
    if (!announced) return undefined;
    const counts = new Map<number, number>();
    for (const { type } of this.#events.values()) counts.set(type, (counts.get(type) ?? 0) + 1);
    const merge = HubEventType.HUB_EVENT_TYPE_MERGE_MESSAGE;
    counts.set(merge, (counts.get(merge) ?? 0) + this.#withoutId.size);
    if (Object.keys(announced.eventCountsByType).length === 0) {
      // A node that does not announce counts by type announces the total, which includes the announcement itself.
      return announced.totalEvents - 1 === this.#events.size + this.#withoutId.size ? 0 : undefined;
    }
    for (const type of COUNTED_TYPES) {
      if (type === merge) continue;
      if ((announced.eventCountsByType[type] ?? 0) !== (counts.get(type) ?? 0)) return undefined;
    }
    const missing = (announced.eventCountsByType[merge] ?? 0) - (counts.get(merge) ?? 0);
    return missing >= 0 ? missing : undefined;
  }

  /** Returns the block with the events received so far. Only for a confirmed block. */
  close(): ShardBlock {
    if (!this.#confirmed) throw new Error(`block ${this.number} is not confirmed`);
    return {
      number: this.number,
      timestamp: this.#confirmed.timestamp,
      hash: this.#confirmed.blockHash,
      seqnum: this.#confirmed.maxBlockEventSeqnum,
      unknownEvents: unknownEventsOf(this.#confirmed),
      events: [...this.#events.values()].sort((a, b) => a.id - b.id),
    };
  }
}

/** Assembles blocks from a stream of events. The stream may start within a block, and repeat or omit events. */
export class BlockAssembler {
  #next: number;
  #open: OpenBlock | undefined;
  /** A block that has been known to be complete since the first event of the next one arrived. */
  #complete: ShardBlock | undefined;

  /** @param next number of the first block to return. */
  constructor(next: number) {
    this.#next = next;
  }

  /** Number of the next block. */
  get next(): number {
    return this.#next;
  }

  /**
   * Adds an event. Returns the number of the last missing block, from `next` on, that must be requested; undefined if none
   * is missing.
   */
  push(event: FollowedEvent): number | undefined {
    if (event.id === 0) {
      this.#open?.add(event);
      return undefined;
    }
    const number = blockOfEvent(event.id);
    const newest = this.#open?.number ?? this.#next - 1;
    if (number < newest || number < this.#next) return undefined;
    // The announcement is the first event of its block, so events without an id before it belong to the previous block.
    if (event.body?.$case === "blockConfirmed" && number === this.#next + 1)
      this.#complete = this.#closeOpen();
    if (number > newest) this.#open = new OpenBlock(number);
    this.#open?.add(event);
    return number > newest && number > this.#next ? number - 1 : undefined;
  }

  /** Skips the blocks up to `number`, which were read elsewhere. */
  skipTo(number: number): void {
    this.#next = number + 1;
    this.#complete = undefined;
    if (this.#open && this.#open.number <= number) this.#open = undefined;
  }

  /**
   * Returns the next block once it is complete. A block whose newest event has no id is complete only with the first event
   * of the next block: the event without an id could belong to the next block and hide a lost merge of this one.
   */
  take(): ShardBlock | undefined {
    const complete = this.#complete ?? (this.#open?.endsWithoutId ? undefined : this.#closeOpen());
    this.#complete = undefined;
    return complete;
  }

  /** Closes the open block if it is the next one and is complete. */
  #closeOpen(): ShardBlock | undefined {
    const open = this.#open;
    if (!open || open.number !== this.#next || open.missingMerges() !== 0) return undefined;
    this.#open = undefined;
    this.#next += 1;
    return open.close();
  }
}

function unknownEventsOf({ eventCountsByType }: BlockConfirmedBody): number {
  let count = 0;
  for (const [type, events] of Object.entries(eventCountsByType))
    if (!isKnownHubEvent(Number(type))) count += events;
  return count;
}

function isCounted({ type }: FollowedEvent): boolean {
  return COUNTED_TYPES.has(type);
}

function fingerprint({ body }: FollowedEvent): string {
  return body?.$case === "merge" ? Buffer.from(body.value.message).toString("latin1") : "";
}
