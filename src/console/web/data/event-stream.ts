import { effect, signal } from "@preact/signals";
import { type ServerSentEvent, SseParser } from "../../../lib/sse-parser.ts";
import type { Call } from "./call.ts";
import { apiKey, isApiKeyWanted, RequestFailure, readFailure } from "./request.ts";
import { isVisible } from "./visibility.ts";

/** An event of `/stream`: the body of a webhook's delivery. */
export interface StreamEvent {
  readonly cursor: string;
  readonly kind: string;
  readonly createdAt: number;
  readonly data: unknown;
}

/** `paused`: by the visitor, or because the tab is hidden. `failed`: the node refused; `failure` says why. */
export type StreamState = "connecting" | "open" | "paused" | "failed";

export interface EventStreamHandlers {
  readonly onEvent: (event: StreamEvent) => void;
  /** Events are missing: the log no longer has them. */
  readonly onGap?: () => void;
}

export interface EventStream {
  readonly state: StreamState;
  readonly failure: RequestFailure | undefined;
  pause(): void;
  /** Goes on behind the last event, also after a failure. */
  resume(): void;
  close(): void;
}

/** An event has a cast with its quotes at most. */
const MAX_EVENT_CHARS = 4_000_000;
/** The node sends a sign of life each 15 s. */
const SILENCE_MS = 45_000;
const FIRST_BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 30_000;
const KINDS = /^(?:cast|reaction|follow|user)\.(?:created|deleted|updated)$/;

let current: EventStream | undefined;

/**
 * Follows the node's events while the tab is shown, and resumes behind the last one after a break, so that nothing is lost. It reads
 * by `fetch`, since an EventSource sends no API key and hides why a node refuses. A tab has one: another one ends it, because a
 * browser allows six connections to a host.
 */
export function openEventStream(call: Call, handlers: EventStreamHandlers): EventStream {
  const state = signal<StreamState>("connecting");
  const failure = signal<RequestFailure | undefined>(undefined);
  const isRunning = signal(true);
  let cursor = "";
  let backoffMs = FIRST_BACKOFF_MS;

  function take({ id, event, data }: ServerSentEvent): void {
    if (event === "gap") handlers.onGap?.();
    if (event === "error") throw failureOfFrame(data);
    if (!KINDS.test(event)) return;
    const body = JSON.parse(data) as { created_at: number; data: unknown };
    handlers.onEvent({ cursor: id, kind: event, createdAt: body.created_at, data: body.data });
  }

  /** Reads until the connection ends. Throws `RequestFailure` if the node refuses. */
  async function read(abort: AbortController, key: string | undefined): Promise<void> {
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (cursor !== "") headers["last-event-id"] = cursor;
    if (key !== undefined) headers["x-api-key"] = key;
    const response = await fetch(call.path, { headers, signal: abort.signal, cache: "no-store" });
    if (response.status === 401) isApiKeyWanted.value = true;
    if (!response.ok || !response.body) throw await readFailure(response);
    state.value = "open";
    failure.value = undefined;
    const parser = new SseParser(MAX_EVENT_CHARS);
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    let timer = setTimeout(() => abort.abort(), SILENCE_MS);
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(timer);
        timer = setTimeout(() => abort.abort(), SILENCE_MS);
        backoffMs = FIRST_BACKOFF_MS;
        const events = parser.push(decoder.decode(value, { stream: true }));
        cursor = parser.lastId || cursor;
        events.forEach(take);
      }
    } finally {
      clearTimeout(timer);
      abort.abort();
    }
  }

  async function follow(stop: AbortSignal, key: string | undefined): Promise<void> {
    while (!stop.aborted) {
      state.value = "connecting";
      const abort = new AbortController();
      const onStop = () => abort.abort();
      stop.addEventListener("abort", onStop);
      let waitMs = backoffMs;
      try {
        await read(abort, key);
      } catch (cause) {
        if (stop.aborted) return;
        if (cause instanceof RequestFailure) {
          failure.value = cause;
          state.value = "failed";
          if (!isTemporary(cause)) return;
          waitMs = Math.max(waitMs, cause.retryAfterMs ?? 0);
        }
      } finally {
        stop.removeEventListener("abort", onStop);
      }
      if (stop.aborted) return;
      backoffMs = Math.min(MAX_BACKOFF_MS, backoffMs * 2);
      await delay(waitMs, stop);
    }
  }

  const end = effect(() => {
    if (!isVisible.value || !isRunning.value) {
      state.value = "paused";
      return;
    }
    const stop = new AbortController();
    // Another key connects again.
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
      failure.value = undefined;
      backoffMs = FIRST_BACKOFF_MS;
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

/** A node that is full or starting says so and is asked again; a filter that it refuses is not. */
const isTemporary = ({ status, code }: RequestFailure) =>
  code !== "expression_budget" && (status === 0 || status === 429 || status >= 500) && status !== 501;

function failureOfFrame(data: string): RequestFailure {
  const { code, message } = JSON.parse(data) as { code?: string; message?: string };
  return new RequestFailure({ status: 0, code, message: message ?? "the node ended the stream" });
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
