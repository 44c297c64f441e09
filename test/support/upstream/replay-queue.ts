import { type Random, seededRandom } from "../../../src/demo/random.ts";
import type { BlockEvent } from "../../../src/protocol/wire/generated/block.ts";
import type { HubEvent } from "../../../src/protocol/wire/generated/hub.ts";

/** A block event of shard 0 that the data shards replay. */
export interface Replay {
  readonly seqnum: number;
  /** Its author; 0 for what has none. */
  readonly fid: number;
  readonly blockEvent: BlockEvent;
  /** Returns what a data shard reports when it replays the event. Called once for each shard, in the order of the events. */
  eventsOf(shard: number): readonly HubEvent[];
}

/** When an event that was dropped is sent again. */
const RESEND_SECS = 5;

/** The block events on their way to a data shard. */
export class ReplayQueue {
  readonly #random: Random;
  #waiting: { readonly replay: Replay; from: number }[] = [];
  /** The number of the last event that was replayed. */
  newest = 0;

  constructor(seed: string) {
    this.#random = seededRandom(seed);
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Adds an event of the block of second `n`. */
  add(replay: Replay, n: number): void {
    this.#waiting.push({ replay, from: n + 1 });
  }

  /**
   * Takes what the shard replays in second `n`. Since engine V21 a proposal has the events of several fids in a random order of the
   * fids: those that are not the next ones are dropped, and sent again.
   */
  take(n: number, isScrambled: boolean): readonly Replay[] {
    const proposed = this.#waiting.filter(({ from }) => from <= n);
    const groups = [...Map.groupBy(proposed, ({ replay }) => (isScrambled ? replay.fid : 0)).values()];
    const taken = new Set<Replay>();
    for (const entry of (isScrambled ? this.#random.shuffled(groups) : groups).flat()) {
      if (entry.replay.seqnum === this.newest + 1) {
        this.newest += 1;
        taken.add(entry.replay);
      } else entry.from = n + RESEND_SECS;
    }
    this.#waiting = this.#waiting.filter(({ replay }) => !taken.has(replay));
    return [...taken];
  }
}
