import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock } from "../clock.ts";
import type { Attributes, Span, SpanEnd, SpanKind, SpanStart, Spans, TraceParent } from "./span.ts";

/** Maximum number of children per span. The thousands of calls of a campaign are alike. */
const MAX_CHILDREN = 64;

export interface EndedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly link: TraceParent | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  /** Unix ms, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly failure: string | undefined;
}

interface SpansDeps {
  /** The fraction of traces started here that is exported, 0 to 1. */
  readonly ratio: number;
  /** Called with each span when it ends. */
  readonly onEnd: (span: EndedSpan) => void;
  readonly stop: (graceMs: number) => Promise<void>;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
}

/** Creates the spans of a thread. The active span follows what a function awaits. */
export function createSpans({ ratio, onEnd, stop, clock, monotonicMs, random }: SpansDeps): Spans {
  const storage = new AsyncLocalStorage<OpenSpan>();

  class OpenSpan implements Span {
    readonly #start: SpanStart;
    readonly #parentId: string | undefined;
    readonly #link: TraceParent | undefined;
    readonly #traceId: string;
    readonly #spanId = randomHex(8);
    readonly #startMs = clock.nowMs();
    readonly #startedAtMs = monotonicMs();
    #children = 0;
    #isOpen = true;

    constructor(start: SpanStart, traceId: string, parentId?: string, link?: TraceParent) {
      this.#start = start;
      this.#traceId = traceId;
      this.#parentId = parentId;
      this.#link = link;
    }

    get isOpen(): boolean {
      return this.#isOpen;
    }

    get traceparent(): string {
      return `00-${this.#traceId}-${this.#spanId}-01`;
    }

    child(start: SpanStart): Span | undefined {
      if (!this.#isOpen || this.#children >= MAX_CHILDREN) return undefined;
      this.#children += 1;
      return new OpenSpan(start, this.#traceId, this.#spanId);
    }

    run<T>(work: () => T): T {
      return storage.run(this, work);
    }

    end({ name = this.#start.name, attributes, failure }: SpanEnd = {}): void {
      if (!this.#isOpen) return;
      this.#isOpen = false;
      onEnd({
        traceId: this.#traceId,
        spanId: this.#spanId,
        parentId: this.#parentId,
        link: this.#link,
        name,
        kind: this.#start.kind,
        startMs: this.#startMs,
        // The machine's clock may have been set meanwhile.
        endMs: this.#startMs + monotonicMs() - this.#startedAtMs,
        attributes: { ...this.#start.attributes, ...attributes },
        failure,
      });
    }
  }

  const active = () => {
    const span = storage.getStore();
    // Timers that outlive a request still run within its span.
    return span?.isOpen ? span : undefined;
  };

  return {
    active,
    start(start, { parent, link } = {}) {
      const within = active();
      if (within) return within.child(start);
      if (!(parent ? parent.isSampled : random() < ratio)) return undefined;
      return new OpenSpan(start, parent?.traceId ?? randomHex(16), parent?.spanId, link);
    },
    stop,
  };
}

function randomHex(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes)).toHex();
}
