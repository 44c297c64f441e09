import { setTimeout } from "node:timers/promises";
import type { EventReads } from "../../read/hub/event-reads.ts";
import { encodeHubEvent, type HubEventRow } from "../../read/hub/hub-event.ts";

/** An event of the log, encoded once for all subscribers. */
export class TailEvent {
  readonly row: HubEventRow;
  #bytes: Uint8Array | undefined;

  constructor(row: HubEventRow) {
    this.row = row;
  }

  get bytes(): Uint8Array {
    this.#bytes ??= encodeHubEvent(this.row);
    return this.#bytes;
  }
}

const EVENTS_PER_READ = 250;
/** Number of events at the end of the log that subscribers who are there share. */
const MAX_RECENT = 2000;

export interface EventTailDeps {
  readonly reads: Pick<EventReads, "eventsAfterSeq">;
  /** Resolves once the log has an event after a number, however long that takes. */
  readonly awaitEvents: (afterSeq: number) => Promise<void>;
  /**
   * Returns how long, in milliseconds, events at the end of the log wait for more, so that subscribers get them together.
   */
  readonly gatherMs: () => number;
}

/** Reads the log for subscribers. Those at its end share one read, and one encoding of each event. */
export class EventTail {
  readonly #deps: EventTailDeps;
  /** The newest events. Numbers are missing where events of other shards in between were deleted. */
  #recent: TailEvent[] = [];
  #arrival: { readonly afterSeq: number; readonly promise: Promise<void> } | undefined;

  constructor(deps: EventTailDeps) {
    this.#deps = deps;
  }

  /** Returns the next events after `seq`, at least one. Waits for it until `signal` aborts, and then returns none. */
  async after(seq: number, signal: AbortSignal): Promise<readonly TailEvent[]> {
    while (!signal.aborted) {
      const events = this.#read(seq);
      if (events.length > 0) return events;
      await this.#nextArrival(seq, signal);
    }
    return [];
  }

  #read(seq: number): readonly TailEvent[] {
    const first = this.#recent[0];
    const last = this.#recent.at(-1);
    if (first && last && seq >= first.row.seq - 1 && seq < last.row.seq) {
      const at = firstAfter(this.#recent, seq);
      return this.#recent.slice(at, at + EVENTS_PER_READ);
    }
    const events = this.#deps.reads.eventsAfterSeq(seq, EVENTS_PER_READ).map((row) => new TailEvent(row));
    if (seq === last?.row.seq || events.length < EVENTS_PER_READ)
      this.#remember(seq === last?.row.seq, events);
    return events;
  }

  #remember(continues: boolean, events: readonly TailEvent[]): void {
    const recent = continues ? [...this.#recent, ...events] : [...events];
    this.#recent = recent.length > MAX_RECENT ? recent.slice(-MAX_RECENT) : recent;
  }

  async #nextArrival(afterSeq: number, signal: AbortSignal): Promise<void> {
    if (this.#arrival?.afterSeq !== afterSeq) {
      const promise = this.#gathered(afterSeq).finally(() => {
        if (this.#arrival?.promise === promise) this.#arrival = undefined;
      });
      promise.catch(() => undefined);
      this.#arrival = { afterSeq, promise };
    }
    const aborted = Promise.withResolvers<void>();
    const abort = () => aborted.resolve();
    signal.addEventListener("abort", abort);
    try {
      await Promise.race([this.#arrival.promise, aborted.promise]);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async #gathered(afterSeq: number): Promise<void> {
    await this.#deps.awaitEvents(afterSeq);
    const gatherMs = this.#deps.gatherMs();
    if (gatherMs >= 1) await setTimeout(gatherMs);
  }
}

/** Returns the index of the first event after a number, in a list that contains one. */
function firstAfter(events: readonly TailEvent[], seq: number): number {
  let low = 0;
  let high = events.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle]?.row.seq ?? 0) > seq) high = middle;
    else low = middle + 1;
  }
  return low;
}
