import { type ServerSentEvent, SseParser } from "../../../lib/sse-parser.ts";
import { callNode, RequestFailure, readFailure } from "./request.ts";

export interface ServerEventsOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Where to begin: the id of an event, or "". */
  readonly lastId: string;
  /** Ends it. */
  readonly stop: AbortSignal;
  readonly onConnecting?: () => void;
  readonly onOpen?: (response: Response) => void;
  /** Gets each event, and the id to resume with. May throw a `RequestFailure`, which breaks the connection. */
  readonly onEvent: (event: ServerSentEvent) => void;
  /** Gets the position after each piece, also after one without an event. */
  readonly onPosition?: (lastId: string) => void;
  /** Gets what the node refused. Returns whether to connect again. */
  readonly onFailure: (failure: RequestFailure) => boolean;
}

/** An event has a cast with its quotes at most. */
const MAX_EVENT_CHARS = 4_000_000;
/** Twice the time after which the node sends a sign of life. */
const SILENCE_MS = 30_000;
const FIRST_BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 30_000;

/**
 * Reads server-sent events, and connects again after a break with the last id, so that nothing is lost. It reads by `fetch`: an EventSource
 * waits for a node that hangs without end, sends no API key and hides why a node refuses.
 */
export async function followServerEvents(path: string, options: ServerEventsOptions): Promise<void> {
  const { stop, onEvent, onPosition } = options;
  let { lastId } = options;
  let backoffMs = FIRST_BACKOFF_MS;

  async function read(response: Response, extend: (limitMs: number) => void): Promise<void> {
    if (!response.ok || !response.body) throw await readFailure(response);
    options.onOpen?.(response);
    const parser = new SseParser(MAX_EVENT_CHARS);
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    for (;;) {
      extend(SILENCE_MS);
      const { done, value } = await reader.read();
      if (done) return;
      backoffMs = FIRST_BACKOFF_MS;
      const events = parser.push(decoder.decode(value, { stream: true }));
      lastId = parser.lastId || lastId;
      onPosition?.(lastId);
      events.forEach(onEvent);
    }
  }

  while (!stop.aborted) {
    options.onConnecting?.();
    const headers: Record<string, string> = { ...options.headers, accept: "text/event-stream" };
    if (lastId !== "") headers["last-event-id"] = lastId;
    let waitMs = backoffMs;
    try {
      await callNode(path, { headers, signal: stop, cache: "no-store" }, read);
    } catch (cause) {
      if (stop.aborted || !(cause instanceof RequestFailure)) return;
      // A connection that broke, or was silent for too long, is made again without a word.
      if (cause.code !== undefined || cause.status !== 0) {
        if (!options.onFailure(cause)) return;
        waitMs = Math.max(waitMs, cause.retryAfterMs ?? 0);
      }
    }
    if (stop.aborted) return;
    backoffMs = Math.min(MAX_BACKOFF_MS, backoffMs * 2);
    await delay(waitMs, stop);
  }
}

function delay(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    stop.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
