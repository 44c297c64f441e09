import type { SetTimer } from "../../runtime/set-timer.ts";

/** Events behind a position, oldest first. */
export interface FeedPage<Event> {
  readonly events: readonly { readonly seq: number; readonly event: Event }[];
  /** The position behind them. */
  readonly last: number;
}

/** Events that one page holds at most. */
const PAGE = 20;

/** The latest events of one source, numbered from 1. Readers ask for those behind a position, and may wait for the next one. */
export class EventFeed<Event> {
  readonly #maxEvents: number;
  #events: { readonly seq: number; readonly event: Event }[] = [];
  #last = 0;
  readonly #waiting = new Set<() => void>();

  constructor(maxEvents: number) {
    this.#maxEvents = maxEvents;
  }

  get size(): number {
    return this.#events.length;
  }

  /** Adds an event. Returns the oldest one if there was no room for it. */
  push(event: Event): Event | undefined {
    this.#last += 1;
    this.#events.push({ seq: this.#last, event });
    const dropped = this.#events.length > this.#maxEvents ? this.dropOldest() : undefined;
    for (const wake of this.#waiting) wake();
    return dropped;
  }

  dropOldest(): Event | undefined {
    return this.#events.shift()?.event;
  }

  /** Returns the next events at once. A position of an earlier run of the process is taken for the beginning. */
  after(position: number): FeedPage<Event> {
    const from = position > this.#last ? 0 : position;
    const events = this.#events.filter(({ seq }) => seq > from).slice(0, PAGE);
    return { events, last: events.at(-1)?.seq ?? from };
  }

  /** Returns the next events; without any, waits for one, at most `timeoutMs`. */
  async next(position: number, timeoutMs: number, after: SetTimer): Promise<FeedPage<Event>> {
    const page = this.after(position);
    if (page.events.length > 0) return page;
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        cancel();
        resolve();
      };
      const cancel = after(timeoutMs, wake);
      this.#waiting.add(wake);
    });
    return this.after(page.last);
  }
}
