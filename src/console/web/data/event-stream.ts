import { effect, signal } from "@preact/signals";
import { type ServerSentEvent, SseParser } from "../../../lib/sse-parser.ts";
import { isChannelEvent } from "../../../protocol/event-kind.ts";
import * as msg from "../text/en/common.ts";
import type { Call } from "./call.ts";
import { apiKey, callNode, isApiKeyWanted, RequestFailure, readFailure } from "./request.ts";
import { isVisible } from "./visibility.ts";

interface ServerEventsOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** The id of the event after which to start, or "". */
  readonly lastId: string;
  /** Ends it. */
  readonly stop: AbortSignal;
  readonly onConnecting?: () => void;
  readonly onOpen?: (response: Response) => void;
  /** Called with each event and the id from which to resume. May throw a `RequestFailure`, which breaks the connection. */
  readonly onEvent: (event: ServerSentEvent) => void;
  /** Called with the position after each chunk, even one without an event. */
  readonly onPosition?: (lastId: string) => void;
  /** Called with the node's refusal. Returns whether to reconnect. */
  readonly onFailure: (failure: RequestFailure) => boolean;
}

/** An event contains at most a cast with its quotes. */
const MAX_EVENT_CHARS = 4_000_000;
/** Twice the interval of the node's heartbeats. */
const SILENCE_MS = 30_000;
const FIRST_BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 30_000;

/**
 * Reads server-sent events, and reconnects after a break with the last id, so that nothing is lost. It uses `fetch`: an EventSource waits
 * forever for a node that hangs, sends no API key and hides why a node refuses.
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
      // A connection that broke or was silent for too long is silently reopened.
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

/** An event of `/stream`, which is also the body of a webhook's delivery. */
export interface StreamEvent {
  readonly cursor: string;
  readonly kind: string;
  readonly createdAt: number;
  readonly data: unknown;
}

/**
 * `paused`: by the visitor, or because the tab is hidden. `failed`: the node refused; `failure` says why. `ended`: the stream is
 * complete.
 */
export type StreamState = "connecting" | "open" | "paused" | "failed" | "ended";

export interface EventStreamHandlers {
  readonly onEvent: (event: StreamEvent) => void;
  /** Called if events are missing because the log no longer has them. */
  readonly onGap?: () => void;
}

export interface EventStream {
  readonly state: StreamState;
  readonly failure: RequestFailure | undefined;
  pause(): void;
  /** Continues after the last event, even after a failure. */
  resume(): void;
  close(): void;
}

const KINDS = /^(?:cast|reaction|follow|user)\.(?:created|deleted|updated)$/;

let current: EventStream | undefined;

/**
 * Follows the node's events while the tab is visible, and resumes after the last one, so that nothing is lost. A tab has only one stream,
 * and a new one ends it, because a browser allows six connections per host.
 */
export function openEventStream(call: Call, handlers: EventStreamHandlers): EventStream {
  const state = signal<StreamState>("connecting");
  const failure = signal<RequestFailure | undefined>(undefined);
  const isRunning = signal(true);
  let cursor = "";
  let isEnded = false;

  function take({ id, event, data }: ServerSentEvent): void {
    if (event === "gap") handlers.onGap?.();
    if (event === "error") throw failureOfFrame(data);
    if (event === "end") end();
    if (!KINDS.test(event) && !isChannelEvent(event)) return;
    const body = JSON.parse(data) as { created_at: number; data: unknown };
    handlers.onEvent({ cursor: id, kind: event, createdAt: body.created_at, data: body.data });
  }

  const follow = (stop: AbortSignal, key: string | undefined) =>
    followServerEvents(call.path, {
      headers: key === undefined ? {} : { "x-api-key": key },
      lastId: cursor,
      stop,
      onConnecting() {
        state.value = "connecting";
      },
      onOpen() {
        state.value = "open";
        failure.value = undefined;
      },
      onPosition(lastId) {
        cursor = lastId;
      },
      onEvent: take,
      onFailure(cause) {
        if (cause.status === 401) isApiKeyWanted.value = true;
        failure.value = cause;
        state.value = "failed";
        return isTemporary(cause);
      },
    });

  function end(): void {
    isEnded = true;
    stopFollowing();
    state.value = "ended";
  }

  const stopFollowing = effect(() => {
    if (!isVisible.value || !isRunning.value) {
      state.value = "paused";
      return;
    }
    const stop = new AbortController();
    // A new key reconnects.
    void follow(stop.signal, apiKey.value);
    return () => stop.abort();
  });

  const stream: EventStream = {
    get state() {
      return state.value;
    },
    get failure() {
      return failure.value;
    },
    pause() {
      isRunning.value = false;
    },
    resume() {
      if (isEnded) return;
      failure.value = undefined;
      isRunning.value = false;
      isRunning.value = true;
    },
    close() {
      end();
      if (current === stream) current = undefined;
    },
  };
  current?.close();
  current = stream;
  return stream;
}

/** Reports whether to try again: a node that is full or starting says so; a refused filter stays refused. */
const isTemporary = ({ status, code }: RequestFailure) =>
  code !== "expression_budget" && (status === 0 || status === 429 || status >= 500) && status !== 501;

function failureOfFrame(data: string): RequestFailure {
  const { code, message } = JSON.parse(data) as { code?: string; message?: string };
  return new RequestFailure({ status: 0, code, message: message ?? msg.theNodeEndedTheStream });
}
