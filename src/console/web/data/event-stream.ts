import { effect, signal } from "@preact/signals";
import { type CallParams, get } from "./call.ts";
import { isVisible } from "./visibility.ts";

/** An event of `/stream`: the body of a webhook's delivery. */
export interface StreamEvent {
  readonly cursor: string;
  readonly kind: string;
  readonly createdAt: number;
  readonly data: unknown;
}

export type StreamState = "connecting" | "open" | "paused" | "failed";

export interface EventStreamHandlers {
  readonly onEvent: (event: StreamEvent) => void;
  /** Events are missing: the log no longer has them. */
  readonly onGap?: (from: string, to: string) => void;
}

export interface EventStream {
  readonly state: StreamState;
  /** When the node last gave a sign of life, in ms. */
  readonly lastFrameAtMs: number;
  close(): void;
}

const KINDS = [
  "cast.created",
  "cast.deleted",
  "reaction.created",
  "reaction.deleted",
  "follow.created",
  "follow.deleted",
  "user.created",
  "user.updated",
];

/**
 * Follows the node's events while the tab is shown, and resumes behind the last one after a break, so that nothing is lost. A page
 * has at most one: a browser allows six connections to a host.
 */
export function openEventStream(params: CallParams, handlers: EventStreamHandlers): EventStream {
  const state = signal<StreamState>("connecting");
  const lastFrameAtMs = signal(Date.now());
  let cursor: string | undefined;

  function onFrame({ lastEventId }: MessageEvent<string>): void {
    lastFrameAtMs.value = Date.now();
    if (lastEventId !== "") cursor = lastEventId;
  }

  function connect(): EventSource {
    const source = new EventSource(get("/stream", { ...params, cursor }).path);
    source.onopen = () => {
      state.value = "open";
    };
    source.onerror = () => {
      state.value = source.readyState === EventSource.CLOSED ? "failed" : "connecting";
    };
    source.onmessage = onFrame;
    source.addEventListener("hello", onFrame);
    source.addEventListener("gap", (event: MessageEvent<string>) => {
      onFrame(event);
      const { from, to } = JSON.parse(event.data) as { from: string; to: string };
      handlers.onGap?.(from, to);
    });
    for (const kind of KINDS)
      source.addEventListener(kind, (event: MessageEvent<string>) => {
        onFrame(event);
        const { created_at, data } = JSON.parse(event.data) as { created_at: number; data: unknown };
        handlers.onEvent({ cursor: event.lastEventId, kind, createdAt: created_at, data });
      });
    return source;
  }

  const stop = effect(() => {
    if (!isVisible.value) {
      state.value = "paused";
      return;
    }
    const source = connect();
    return () => source.close();
  });
  return {
    get state() {
      return state.value;
    },
    get lastFrameAtMs() {
      return lastFrameAtMs.value;
    },
    close: stop,
  };
}
