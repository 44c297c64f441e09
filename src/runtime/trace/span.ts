/** The parent of a span, as in `traceparent` of W3C Trace Context. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

export type SpanKind = "internal" | "server" | "client";

/**
 * They contain nothing from a client except a request id: no URL, body, name or key. A name that starts with `svc.` is exported with the
 * prefix `service.name`.
 */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  /** From a small set, such as a route. */
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes?: Attributes;
}

/** What is known about a span at its end. */
export interface SpanEnd {
  /** Replaces the name from the start. */
  readonly name?: string;
  readonly attributes?: Attributes;
  /** Why it failed, from a small set of words. */
  readonly failure?: string | undefined;
}

/** Work that is being timed. */
export interface Span {
  /** For a call that continues the trace. */
  readonly traceparent: string;
  /** Starts a child span; undefined after this span's end, and beyond the limit of children. */
  child(start: SpanStart): Span | undefined;
  /** Runs work, including everything that it awaits, with this span as the active one. */
  run<T>(work: () => T): T;
  /** Ends the span. A second call has no effect. */
  end(end?: SpanEnd): void;
}

/** The spans of a thread. */
export interface Spans {
  /**
   * Starts a child of the active span. If there is none, it continues a trace that a trusted caller started, or starts one, which may be
   * linked to that of any caller.
   *
   * @returns undefined if the trace is not sampled
   */
  start(
    start: SpanStart,
    from?: { readonly parent?: TraceParent; readonly link?: TraceParent },
  ): Span | undefined;
  /** Returns the open span within which the caller runs; undefined if there is none. */
  active(): Span | undefined;
  /** Exports ended spans for at most `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Returns the trace of a request's span: it continues the trace of a trusted caller. Strangers can neither continue a trace nor decide
 * about its export: theirs is only linked.
 */
export function traceOfCaller(
  traceparent: string | null | undefined,
  isTrusted: () => boolean,
): { readonly parent?: TraceParent; readonly link?: TraceParent } | undefined {
  const caller = parseTraceparent(traceparent);
  return caller && (isTrusted() ? { parent: caller } : { link: caller });
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_CHARS = 128;

/** Parses a `traceparent`; undefined if it is invalid according to W3C Trace Context. */
export function parseTraceparent(text: string | null | undefined): TraceParent | undefined {
  if (text === null || text === undefined || text.length > MAX_CHARS) return undefined;
  const [, version, traceId = "", spanId = "", flags = "", rest] = TRACEPARENT.exec(text) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
