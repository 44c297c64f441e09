/** What a span belongs to, as `traceparent` of W3C Trace Context names it. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

export type SpanKind = "internal" | "server" | "client";

/** Nothing that a client wrote but a request id: no URL, body, name or key. A name that starts with `svc.` starts with `service.name` outside. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  /** One of few, such as a route. */
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes?: Attributes;
}

/** What is known of a span at its end. */
export interface SpanEnd {
  /** Replaces that of the start. */
  readonly name?: string;
  readonly attributes?: Attributes;
  /** Why it failed, one of few words. */
  readonly failure?: string | undefined;
}

/** Work that is being timed. */
export interface Span {
  /** For a call that continues the trace. */
  readonly traceparent: string;
  /** Starts a span below this one; undefined after its end, and for one of too many. */
  child(start: SpanStart): Span | undefined;
  /** Runs work, and all that it awaits, with this span as the active one. */
  run<T>(work: () => T): T;
  /** Ends the span. A second call has no effect. */
  end(end?: SpanEnd): void;
}

/** The spans of a thread. */
export interface Spans {
  /**
   * Starts a span below the active one; without one, it continues a trace that a trusted caller began, or begins one, which
   * may be linked to that of any caller.
   *
   * @returns undefined where the trace is not sampled
   */
  start(
    start: SpanStart,
    from?: { readonly parent?: TraceParent; readonly link?: TraceParent },
  ): Span | undefined;
  /** The span within which the caller runs; undefined outside of one that is open. */
  active(): Span | undefined;
  /** Exports what has ended, for as long as `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Returns what a request gives its span: it continues the trace of a trusted caller. Strangers continue no trace, and decide on no
 * export: theirs is linked.
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

/** Parses a `traceparent`; undefined for what W3C Trace Context calls invalid. */
export function parseTraceparent(text: string | null | undefined): TraceParent | undefined {
  if (text === null || text === undefined || text.length > MAX_CHARS) return undefined;
  const [, version, traceId = "", spanId = "", flags = "", rest] = TRACEPARENT.exec(text) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
