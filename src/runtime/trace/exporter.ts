import { reasonOf } from "../../lib/failure.ts";
import { exponentialBackoffMs, retryAfterMs } from "../../net/backoff.ts";
import type { OperatorFetch } from "../../net/operator-fetch.ts";
import { readUpTo } from "../../net/read-up-to.ts";
import type { Clock, SetTimer } from "../clock.ts";
import { createLogThrottle } from "../log/log-throttle.ts";
import type { Logger } from "../log/logger.ts";
import type { Attributes, SpanKind } from "./span.ts";
import type { SpanCounts } from "./span-counts.ts";
import type { EndedSpan } from "./spans.ts";

/** Maximum number of a thread's spans waiting for the collector, about a megabyte. Further ones are dropped. */
export const MAX_WAITING = 2048;
/** Maximum number of spans in one call, which a thread encodes within a millisecond or two. */
export const MAX_BATCH = 256;
/** How long a span waits for others. */
const DELAY_MS = 2_000;
const CALL_TIMEOUT_MS = 5_000;
const MAX_ATTEMPTS = 4;
const BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;
const LOG_INTERVAL_MS = 60_000;
const MAX_RESPONSE_BYTES = 64 * 1024;
/** The statuses after which OTLP/HTTP requires a retry. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

interface ExporterDeps {
  /** Where traces are posted. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: TraceResource;
  readonly callCollector: OperatorFetch;
  readonly counts: Pick<SpanCounts, "add">;
  readonly clock: Clock;
  readonly setTimer: SetTimer;
  readonly log: Logger;
}

type Outcome = "taken" | { readonly reason: string; readonly retryAfterMs: number | undefined };

/** Starts sending spans to a collector. The exporter sends one batch at a time, and never makes its caller wait. */
export function startTraceExporter(deps: ExporterDeps) {
  const { url, headers, resource, callCollector, counts, clock, setTimer, log } = deps;
  const throttle = createLogThrottle({ clock, intervalMs: LOG_INTERVAL_MS });
  const stopping = new AbortController();
  const stopped = new AbortController();
  let waiting: EndedSpan[] = [];
  let cancelTimer: (() => void) | undefined;
  let sending: Promise<void> | undefined;

  async function call(body: string, spans: number): Promise<Outcome> {
    try {
      const response = await callCollector(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body,
        signal: AbortSignal.any([stopped.signal, AbortSignal.timeout(CALL_TIMEOUT_MS)]),
      });
      const text = (await readUpTo(response, MAX_RESPONSE_BYTES)).body;
      if (response.ok) {
        const rejected = Math.min(rejectedSpans(text), spans);
        counts.add("exported", spans - rejected);
        counts.add("refused", rejected);
        return "taken";
      }
      const { status } = response;
      return {
        reason: `the collector responded with ${status}`,
        retryAfterMs: RETRYABLE.has(status)
          ? retryAfterMs(response.headers.get("retry-after"), clock.nowMs(), MAX_BACKOFF_MS)
          : undefined,
      };
    } catch (cause) {
      return { reason: reasonOf(cause), retryAfterMs: 0 };
    }
  }

  async function send(batch: readonly EndedSpan[]): Promise<void> {
    const body = encodeTraces(resource, batch);
    for (let attempt = 1; ; attempt++) {
      const outcome = await call(body, batch.length);
      if (outcome === "taken") return;
      const { reason, retryAfterMs: waitMs } = outcome;
      const isLast = waitMs === undefined || attempt >= MAX_ATTEMPTS || stopping.signal.aborted;
      throttle((others) =>
        log.warn({ reason, attempt, isLast, spans: batch.length, ...others }, "Traces were not exported"),
      );
      if (isLast) {
        counts.add("refused", batch.length);
        return;
      }
      await sleep(Math.max(waitMs, exponentialBackoffMs(BACKOFF_MS, attempt, MAX_BACKOFF_MS)));
    }
  }

  function sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = setTimer(ms, resolve);
      stopping.signal.addEventListener("abort", () => {
        cancel();
        resolve();
      });
    });
  }

  async function sendAll(): Promise<void> {
    while (waiting.length > 0 && !stopped.signal.aborted) {
      const batch = waiting.slice(0, MAX_BATCH);
      waiting = waiting.slice(MAX_BATCH);
      await send(batch);
      // An incomplete batch waits for more spans, unless none will follow.
      if (waiting.length < MAX_BATCH && !stopping.signal.aborted) break;
    }
  }

  /** Sends at once, unless a call is in progress. */
  function flush(): Promise<void> {
    cancelTimer?.();
    cancelTimer = undefined;
    sending ??= sendAll().finally(() => {
      sending = undefined;
      if (waiting.length > 0 && !stopping.signal.aborted) schedule();
    });
    return sending;
  }

  function schedule(): void {
    cancelTimer ??= setTimer(DELAY_MS, () => void flush());
  }

  return {
    /** Adds a span; drops it if too many wait. */
    add(span: EndedSpan): void {
      if (waiting.length >= MAX_WAITING || stopping.signal.aborted) {
        counts.add("dropped", 1);
        return;
      }
      waiting.push(span);
      if (sending) return;
      if (waiting.length >= MAX_BATCH) void flush();
      else schedule();
    },

    /** Sends waiting spans for at most `graceMs`. */
    async stop(graceMs: number): Promise<void> {
      stopping.abort();
      const cancel = setTimer(graceMs, () => stopped.abort());
      // The call in progress may leave spans that were added meanwhile.
      await sending;
      await flush();
      cancel();
      counts.add("dropped", waiting.length);
      waiting = [];
    },
  };
}

/** Reads an `ExportTraceServiceResponse`, but a collector may respond with anything. */
function rejectedSpans(body: Uint8Array): number {
  try {
    const { partialSuccess } = JSON.parse(new TextDecoder().decode(body)) as {
      readonly partialSuccess?: { readonly rejectedSpans?: unknown };
    };
    return Math.max(Math.trunc(Number(partialSuccess?.rejectedSpans ?? 0)) || 0, 0);
  } catch {
    return 0;
  }
}

/** Longer values are truncated. */
const MAX_VALUE_CHARS = 256;

/** Numbers from `opentelemetry.proto.trace.v1.Span.SpanKind`. */
const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const STATUS_ERROR = 2;
/** Trace ids of links come from callers; this bit says that the other trace was sampled. */
const SAMPLED = 1;

/** What all spans of a node share. */
interface TraceResource {
  readonly serviceName: string;
  readonly version: string;
  readonly nodeId: string;
}

/** Encodes an `ExportTraceServiceRequest` in the JSON of OTLP 1, in which ids are hexadecimal and 64-bit numbers texts. */
function encodeTraces(resource: TraceResource, spans: readonly EndedSpan[]): string {
  const { serviceName, version, nodeId } = resource;
  return JSON.stringify({
    resourceSpans: [
      {
        resource: {
          attributes: keyValues({
            "service.name": serviceName,
            "service.version": version,
            "service.instance.id": nodeId,
          }),
        },
        scopeSpans: [
          {
            scope: { name: serviceName, version },
            spans: spans.map((span) => encodeSpan(serviceName, span)),
          },
        ],
      },
    ],
  });
}

function encodeSpan(serviceName: string, span: EndedSpan): object {
  const { traceId, spanId, parentId, link, name, kind, startMs, endMs, attributes, failure } = span;
  const own = failure === undefined ? attributes : { ...attributes, "error.type": failure };
  return {
    traceId,
    spanId,
    parentSpanId: parentId,
    flags: SAMPLED,
    name: well(name),
    kind: KINDS[kind],
    startTimeUnixNano: nanos(startMs),
    endTimeUnixNano: nanos(endMs),
    attributes: keyValues(own, serviceName),
    links: link && [{ traceId: link.traceId, spanId: link.spanId, flags: link.isSampled ? SAMPLED : 0 }],
    status: failure === undefined ? {} : { code: STATUS_ERROR },
  };
}

function keyValues(attributes: Attributes, serviceName = "svc"): object[] {
  const entries: object[] = [];
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined) continue;
    const key = name.startsWith("svc.") ? `${serviceName}${name.slice(3)}` : name;
    entries.push({ key, value: anyValue(value) });
  }
  return entries;
}

function anyValue(value: string | number | boolean): object {
  if (typeof value === "string") return { stringValue: well(value) };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: `${value}` } : { doubleValue: value };
}

/** Protobuf does not accept unpaired surrogates. */
function well(text: string): string {
  return text.slice(0, MAX_VALUE_CHARS).toWellFormed();
}

/** Returns decimal digits, because a double cannot represent the nanoseconds since 1970. */
function nanos(ms: number): string {
  const whole = Math.floor(ms);
  return `${whole}${Math.floor((ms - whole) * 1e6)
    .toString()
    .padStart(6, "0")}`;
}
