import type { SetTimer } from "../../runtime/clock.ts";

/** Events after a position, oldest first. */
export interface FeedPage<Event> {
  readonly events: readonly { readonly seq: number; readonly event: Event }[];
  /** The position after these events. */
  readonly last: number;
}

/** Maximum number of events in a page. */
const PAGE = 20;

/** The latest events of one source, numbered from 1. Readers request those after a position, and may wait for the next one. */
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

  /** Returns the next events without waiting. A position from an earlier run of the process counts as 0. */
  after(position: number): FeedPage<Event> {
    const from = position > this.#last ? 0 : position;
    const events = this.#events.filter(({ seq }) => seq > from).slice(0, PAGE);
    return { events, last: events.at(-1)?.seq ?? from };
  }

  /** Returns the next events; if there are none, waits for one, for at most `timeoutMs`. */
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

/** How long a client waits before it reconnects. */
const RETRY_MS = 2_000;
/** The headers of every feed. */
export const FEED_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
} as const;

/** Returns the position that a client requests: the number of the last event it has seen; 0 if there is none or it is invalid. */
function positionOf(request: Request): number {
  const id = request.headers.get("last-event-id") ?? "";
  return /^[0-9]{1,15}$/.test(id) ? Number(id) : 0;
}

/**
 * Responds with a feed as server-sent events. A page is requested when the socket has accepted the previous one, so nothing is queued in
 * this process.
 */
export function feedResponse<Event>(
  request: Request,
  feed: {
    /** Waits for the events after a position; undefined at the end of the feed. */
    readonly next: (position: number) => Promise<FeedPage<Event> | undefined>;
    readonly present: (event: Event) => object;
    /** The first event. */
    readonly hello: object;
    /** Aborts when the process starts to shut down. */
    readonly stopping: AbortSignal;
    /** Called once. */
    readonly onEnd: () => void;
  },
): Response {
  const encoder = new TextEncoder();
  let position = positionOf(request);
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    feed.onEnd();
  };
  const stopped = Promise.withResolvers<undefined>();
  const stop = () => stopped.resolve(undefined);
  if (feed.stopping.aborted) stop();
  else feed.stopping.addEventListener("abort", stop, { once: true });
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const hello = JSON.stringify(feed.hello);
        controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\nevent: hello\ndata: ${hello}\n\n`));
      },
      async pull(controller) {
        const page = await Promise.race([feed.next(position), stopped.promise]).catch(() => undefined);
        if (isOver) return;
        if (!page) {
          feed.stopping.removeEventListener("abort", stop);
          end();
          controller.close();
          return;
        }
        position = page.last;
        const frames = page.events.map(
          ({ seq, event }) => `id: ${seq}\ndata: ${JSON.stringify(feed.present(event))}\n\n`,
        );
        // A heartbeat, which reveals a broken connection.
        controller.enqueue(encoder.encode(frames.length > 0 ? frames.join("") : ": \n\n"));
      },
      cancel() {
        feed.stopping.removeEventListener("abort", stop);
        end();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: FEED_HEADERS });
}
