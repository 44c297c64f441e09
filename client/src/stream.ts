import { retryAfterMs } from "./retry-after.ts";

/** One event of the stream. */
export interface StreamEvent {
  /** Cursor to resume after this event. */
  readonly cursor: string;
  /** Such as `cast.created`. */
  readonly type: string;
  /** Unix seconds. */
  readonly createdAt: number;
  // biome-ignore lint/suspicious/noExplicitAny: its shape depends on the type
  readonly data: any;
}

export interface StreamOptions {
  /** Such as `https://node.example`, including the path under which a proxy serves the node. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** Filters, as in a webhook, by kind of event. Default: every event. */
  readonly subscription?: Readonly<Record<string, object>>;
  /** Where to resume: the cursor of the last event that was handled. */
  readonly cursor?: string;
  /** Alternative to `cursor`: when to start, in unix seconds. */
  readonly since?: number;
  readonly signal?: AbortSignal;
  /** Called if events between two received ones are lost because the node's log no longer contains them. */
  readonly onGap?: (gap: { readonly from: string | null; readonly to: string }) => void;
  /** `service.name` of the node. Default: `svc`. */
  readonly service?: string;
  readonly fetch?: typeof fetch;
}

/** The node refused the stream, and would refuse a retry, too. */
export class StreamRefused extends Error {
  override readonly name = "StreamRefused";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;
const MAX_RETRY_AFTER_MS = 3_600_000;
/** The node sends something every 15 seconds, so a connection that is silent for longer than this is dead. */
const SILENCE_MS = 45_000;
/** The largest event contains a cast with its quoted casts. */
const MAX_FRAME_CHARS = 4_000_000;

/**
 * Follows the events of a node without end, each event once and in order. A broken connection is resumed after the last event. Ends when
 * `signal` aborts. Store the cursor of the last event that you have handled, and pass it after a restart.
 * @throws StreamRefused for filters or keys that the node does not accept
 */
export async function* streamEvents(options: StreamOptions): AsyncGenerator<StreamEvent, void, void> {
  const { baseUrl, service = "svc", signal, onGap } = options;
  const send = options.fetch ?? fetch;
  // Invalid options must throw here, outside of the code that is retried.
  const endpoint = new URL(`${baseUrl.replace(/\/+$/, "")}/v2/${service}/stream`);
  const body = JSON.stringify({ subscription: options.subscription ?? ALL });
  let cursor = options.cursor;
  let since = options.since;
  let waitMs = FIRST_RETRY_MS;
  while (!signal?.aborted) {
    const silence = new AbortController();
    let notBeforeMs = 0;
    let timer = setTimeout(() => silence.abort(), SILENCE_MS);
    try {
      const url = new URL(endpoint);
      if (cursor !== undefined) url.searchParams.set("cursor", cursor);
      else if (since !== undefined) url.searchParams.set("since", String(since));
      url.searchParams.set("gap", "skip");
      const response = await send(url, {
        method: "POST",
        headers: {
          accept: "text/event-stream",
          "content-type": "application/json",
          ...(options.apiKey === undefined ? {} : { "x-api-key": options.apiKey }),
        },
        body,
        signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
      });
      if (!response.ok || !response.body) await refuse(response);
      for await (const frame of framesOf(response.body as ReadableStream<Uint8Array>)) {
        // The time that the caller takes for an event does not count as silence of the node.
        clearTimeout(timer);
        waitMs = FIRST_RETRY_MS;
        if (frame.id !== undefined) {
          cursor = frame.id;
          since = undefined;
        }
        if (frame.event === "gap" && onGap) callGapHandler(onGap, frame.data);
        if (frame.event !== undefined && frame.data !== "" && !CONTROL.has(frame.event)) {
          const { created_at, type, data } = JSON.parse(frame.data);
          yield { cursor: cursor ?? "", type, createdAt: created_at, data };
        }
        if (signal?.aborted) return;
        timer = setTimeout(() => silence.abort(), SILENCE_MS);
      }
    } catch (cause) {
      if (signal?.aborted) return;
      if (cause instanceof StreamRefused) throw cause;
      if (cause instanceof CallerFailure) throw cause.cause;
      if (cause instanceof TryLater) notBeforeMs = cause.afterMs;
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
    await pause(Math.max(notBeforeMs, waitMs * (0.5 + Math.random() / 2)), signal);
    waitMs = Math.min(waitMs * 2, MAX_RETRY_MS);
  }
}

const CONTROL = new Set(["hello", "gap", "error"]);
const ALL = Object.fromEntries(
  ["cast", "follow", "reaction"].flatMap((kind) => [
    [`${kind}.created`, {}],
    [`${kind}.deleted`, {}],
  ]),
);
ALL["user.created"] = {};
ALL["user.updated"] = {};

/** Throws `TryLater` for too many streams and for outages, which are temporary, and `StreamRefused` for everything else. */
async function refuse(response: Response): Promise<never> {
  const body = (await response.json().catch(() => ({}))) as { message?: string };
  const message = body.message ?? `the node answered ${response.status}`;
  if (response.status === 429 || response.status >= 500)
    throw new TryLater(Math.min(retryAfterMs(response) ?? 0, MAX_RETRY_AFTER_MS));
  throw new StreamRefused(response.status, message);
}

/** A temporary refusal, with how long the node asks to wait. */
class TryLater extends Error {
  readonly afterMs: number;

  constructor(afterMs: number) {
    super("the node asks to try later");
    this.afterMs = afterMs;
  }
}

/** Wraps what the caller's own code threw. The caller has to handle it; the connection is not resumed. */
class CallerFailure extends Error {}

function callGapHandler(onGap: NonNullable<StreamOptions["onGap"]>, data: string): void {
  const gap = JSON.parse(data);
  try {
    onGap(gap);
  } catch (cause) {
    throw new CallerFailure("onGap failed", { cause });
  }
}

interface Frame {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

/**
 * Decodes server-sent events (WHATWG format, with line feeds as the node writes them).
 * @throws Error for a frame that does not end
 */
async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame, void, void> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const frames = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = frames.pop() ?? "";
      if (rest.length > MAX_FRAME_CHARS) throw new Error("the node sent a frame without an end");
      for (const frame of frames) yield readFrame(frame);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function readFrame(text: string): Frame {
  let id: string | undefined;
  let event: string | undefined;
  const data: string[] = [];
  for (const line of text.split("\n")) {
    const [, name = "", value = ""] = /^(\w+): ?(.*)$/s.exec(line) ?? [];
    if (name === "id") id = value;
    if (name === "event") event = value;
    if (name === "data") data.push(value);
  }
  return { id, event, data: data.join("\n") };
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
  });
}
