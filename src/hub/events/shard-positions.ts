import { blockOfEvent } from "../../protocol/hub-event-id.ts";
import type { EventRanges } from "../../read/hub/event-reads.ts";
import type { HubEventRow } from "../../read/hub/hub-event.ts";

/** What becomes of an event on its way to a subscriber: "hole" means that events before it are gone. */
export type EventStep = "take" | "skip" | "hole";

/** How far a subscriber has read the log of each of its shards. */
export class ShardPositions {
  readonly #shards: readonly number[];
  /** The least id that comes next. Missing for a shard whose log has never had a block. */
  readonly #nextIds = new Map<number, number>();

  /** @param fromId The first id that the subscriber wants; undefined for the events from now on. */
  constructor(shards: readonly number[], ranges: EventRanges, fromId: number | undefined) {
    this.#shards = shards;
    for (const [shard, { oldestId, headId }] of ranges)
      this.#nextIds.set(shard, Math.max(oldestId, Math.min(fromId ?? headId + 1, headId + 1)));
  }

  /**
   * Decides about the next event of the log. Retention deletes whole blocks of one shard, so numbers that are missing concern this
   * subscriber only if its own shards begin later now.
   *
   * @param isAfterGap Whether numbers before the event's are missing.
   * @param ranges The ranges of the subscriber's shards now. Called only after a gap.
   */
  step({ shard, id }: HubEventRow, isAfterGap: boolean, ranges: () => EventRanges): EventStep {
    if (isAfterGap && this.#isOvertaken(ranges())) return "hole";
    if (!this.#shards.includes(shard)) return "skip";
    const nextId = this.#nextIds.get(shard);
    if (nextId !== undefined) {
      if (id < nextId) return "skip";
      if (blockOfEvent(id) > blockOfEvent(nextId - 1) + 1) return "hole";
    }
    this.#nextIds.set(shard, id + 1);
    return "take";
  }

  #isOvertaken(ranges: EventRanges): boolean {
    return [...this.#nextIds].some(([shard, nextId]) => (ranges.get(shard)?.oldestId ?? 0) > nextId);
  }
}
