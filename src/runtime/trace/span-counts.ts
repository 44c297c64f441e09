import { counterBy, figureOf } from "../figures/figures.ts";

/** `refused`: by the collector, or because it could not be reached; `dropped`: because too many waited. */
const OUTCOMES = ["exported", "refused", "dropped"] as const;
type SpanOutcome = (typeof OUTCOMES)[number];

/** Counts how the spans of all threads ended, in memory that they share. */
export class SpanCounts {
  readonly shared: SharedArrayBuffer;
  readonly #words: BigInt64Array<SharedArrayBuffer>;

  /** @param shared that of another thread; omitted in the thread that creates it. */
  constructor(shared = new SharedArrayBuffer(8 * OUTCOMES.length)) {
    this.shared = shared;
    this.#words = new BigInt64Array(shared);
  }

  add(outcome: SpanOutcome, spans: number): void {
    if (spans > 0) Atomics.add(this.#words, OUTCOMES.indexOf(outcome), BigInt(spans));
  }

  read(): Readonly<Record<SpanOutcome, number>> {
    const counts = OUTCOMES.map((outcome, at) => [outcome, Number(Atomics.load(this.#words, at))]);
    return Object.fromEntries(counts) as Record<SpanOutcome, number>;
  }
}

const figure = figureOf<SpanCounts>();

/** All are absent while `trace.endpoint` is empty. */
export const traceFigures = [
  figure({
    read: (counts) => counts.read(),
    metric: counterBy("outcome", "trace_spans_total", "Spans of traces by outcome."),
    status: "trace",
  }),
];
