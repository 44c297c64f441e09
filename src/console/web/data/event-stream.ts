import { effect, signal } from "@preact/signals";
import type { ServerSentEvent } from "../../../lib/sse-parser.ts";
import type { Call } from "./call.ts";
import { apiKey, isApiKeyWanted, RequestFailure } from "./request.ts";
import { followServerEvents } from "./server-events.ts";
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
  /** Continues after the last event, also after a failure. */
  resume(): void;
  close(): void;
}

const KINDS = /^(?:cast|reaction|follow|user)\.(?:created|deleted|updated)$/;

let current: EventStream | undefined;

/**
 * Follows the node's events while the tab is shown, and resumes after the last one, so that nothing is lost. A tab has one stream: another
 * one ends it, because a browser allows six connections to a host.
 */
export function openEventStream(call: Call, handlers: EventStreamHandlers): EventStream {
  const state = signal<StreamState>("connecting");
  const failure = signal<RequestFailure | undefined>(undefined);
  const isRunning = signal(true);
  let cursor = "";

  function take({ id, event, data }: ServerSentEvent): void {
    if (event === "gap") handlers.onGap?.();
    if (event === "error") throw failureOfFrame(data);
    if (!KINDS.test(event)) return;
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
