import { setTimeout as sleep } from "node:timers/promises";
import { reasonOf, UserError } from "../../lib/failure.ts";
import { type ServerSentEvent, SseParser } from "../../lib/sse-parser.ts";
import { exponentialBackoffMs, withJitter } from "../../net/backoff.ts";
import { noResponseReason, STRICT_TLS } from "../../net/operator-fetch.ts";
import { readUpTo } from "../../net/read-up-to.ts";

/** Longer than a node is ever silent. */
const SILENCE_MS = 60_000;
const BACKOFF = { initialMs: 1_000, maxMs: 30_000 };
const MAX_EVENT_CHARS = 4 * 1024 * 1024;
const MAX_MESSAGE_BYTES = 500;

export interface FollowedStream {
  readonly url: URL;
  readonly signal: AbortSignal;
  /** Reading pauses until it has resolved. */
  readonly onEvent: (event: ServerSentEvent) => Promise<void>;
  /** Called when the stream broke; it is reopened at the last id. */
  readonly onBreak: (reason: string) => void;
}

/**
 * Follows a stream of events until its end, or until the signal aborts. After each break it is reopened, starting after the last event.
 *
 * @throws UserError if the node refuses the request for any reason but its load.
 */
export async function followStream({ url, signal, onEvent, onBreak }: FollowedStream): Promise<void> {
  let lastId = "";
  let failures = 0;

  /** Returns whether the stream is complete. */
  async function readOnce(): Promise<boolean> {
    const silence = new AbortController();
    const restart = () => setTimeout(() => silence.abort(new Error("the node is silent")), SILENCE_MS);
    let timer = restart();
    try {
      const response = await fetch(url, {
        headers: { accept: "text/event-stream", ...(lastId === "" ? {} : { "last-event-id": lastId }) },
        signal: AbortSignal.any([signal, silence.signal]),
        redirect: "manual",
        tls: STRICT_TLS,
      }).catch((cause: unknown) => {
        throw new Error(noResponseReason(url, cause), { cause });
      });
      if (response.status === 204) return true;
      if (response.status !== 200) throw await refusalOf(response);
      const parser = new SseParser(MAX_EVENT_CHARS);
      for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        clearTimeout(timer);
        for (const event of parser.push(text)) {
          failures = 0;
          await onEvent(event);
          if (event.event === "end") return true;
        }
        lastId = parser.lastId || lastId;
        timer = restart();
      }
    } finally {
      clearTimeout(timer);
    }
    throw new Error("the node ended the stream");
  }

  while (!signal.aborted) {
    try {
      if (await readOnce()) return;
    } catch (cause) {
      if (signal.aborted) return;
      if (cause instanceof UserError) throw cause;
      onBreak(reasonOf(cause));
    }
    failures += 1;
    const delayMs = exponentialBackoffMs(BACKOFF.initialMs, failures, BACKOFF.maxMs);
    await sleep(withJitter(delayMs, Math.random()), undefined, { signal }).catch(() => undefined);
  }
}

async function refusalOf(response: Response): Promise<Error> {
  const { status } = response;
  const { body } = await readUpTo(response, MAX_MESSAGE_BYTES);
  const message = `the node responded ${status} ${new TextDecoder().decode(body)}`.trimEnd();
  return status === 429 || status >= 500 ? new Error(message) : new UserError(message);
}
