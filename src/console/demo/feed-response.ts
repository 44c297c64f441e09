import type { FeedPage } from "./event-feed.ts";

/** How long a client waits before it connects again. */
const RETRY_MS = 2_000;
/** Of every feed. */
export const FEED_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
} as const;

/** Returns the position that a client asks for: the number of the last event it has seen; 0 for none and for anything else. */
export function positionOf(request: Request): number {
  const id = request.headers.get("last-event-id") ?? "";
  return /^[0-9]{1,15}$/.test(id) ? Number(id) : 0;
}

/**
 * Responds with a feed as server-sent events. Pages are asked for when the socket has taken the one before, so nothing waits in
 * this process.
 */
export function feedResponse<Event>(
  request: Request,
  feed: {
    /** Waits for the events behind a position; undefined at the end of the feed. */
    readonly next: (position: number) => Promise<FeedPage<Event> | undefined>;
    readonly present: (event: Event) => object;
    /** Sent first. */
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
        // A sign of life, by which a connection that is gone is noticed.
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
