import type { Series } from "../../runtime/figures/figures.ts";

/** The values of one sample by series name; a series without a value is omitted. */
export type Figures = Readonly<Record<string, number>>;

/** The rows of a ring that are newer than some time, oldest first. */
export interface FigureRows {
  /** Unix seconds, strictly increasing. */
  readonly t: Float64Array;
  /** One column per series, NaN where it had no value. */
  readonly columns: readonly Float32Array[];
}

/** Rows of figures at a fixed interval, of which it holds the newest. Its memory is allocated once. */
export class FigureRing {
  readonly #rows: number;
  readonly #stepSecs: number;
  readonly #t: Float64Array;
  readonly #columns: readonly Float32Array[];
  /** The number of rows added since the ring was last empty. */
  #added = 0;

  constructor(options: { readonly series: number; readonly rows: number; readonly stepSecs: number }) {
    this.#rows = options.rows;
    this.#stepSecs = options.stepSecs;
    this.#t = new Float64Array(options.rows);
    this.#columns = Array.from({ length: options.series }, () => new Float32Array(options.rows));
  }

  get bytes(): number {
    return this.#t.byteLength + this.#columns.reduce((sum, column) => sum + column.byteLength, 0);
  }

  /**
   * Adds a row. If the clock was set back, the ring is emptied, because rows must stay in order.
   *
   * @param values one per series; NaN for no value.
   */
  add(tSecs: number, values: readonly number[]): void {
    const last = this.#added === 0 ? Number.NEGATIVE_INFINITY : (this.#t[this.#at(this.#added - 1)] ?? 0);
    if (tSecs < last - this.#stepSecs) this.#added = 0;
    else if (tSecs <= last) return;
    const at = this.#at(this.#added);
    this.#t[at] = tSecs;
    for (const [series, column] of this.#columns.entries()) column[at] = values[series] ?? Number.NaN;
    this.#added += 1;
  }

  /** Returns the rows after a time. */
  since(tSecs: number): FigureRows {
    const kept = Math.min(this.#added, this.#rows);
    const oldest = this.#added - kept;
    let first = kept;
    while (first > 0 && (this.#t[this.#at(oldest + first - 1)] ?? 0) > tSecs) first -= 1;
    const copy = <T extends Float64Array | Float32Array>(from: T, to: T): T => {
      for (let row = 0; row < to.length; row++) to[row] = from[this.#at(oldest + first + row)] ?? Number.NaN;
      return to;
    };
    return {
      t: copy(this.#t, new Float64Array(kept - first)),
      columns: this.#columns.map((column) => copy(column, new Float32Array(kept - first))),
    };
  }

  #at(row: number): number {
    return row % this.#rows;
  }
}

/** The interval of samples in seconds. */
export const SAMPLE_SECS = 5;
const MINUTE_SECS = 60;
const FINE_ROWS = 3600 / SAMPLE_SECS;
const COARSE_ROWS = 24 * 60;

/** The intervals of the history: samples for an hour, minutes for a day. */
export type HistoryStep = typeof SAMPLE_SECS | typeof MINUTE_SECS;

/** The figures of the last day, in memory: a restart clears them. */
export interface History {
  add(tSecs: number, figures: Figures): void;
  /** Returns the rows after a time, with the columns in the order of the series. */
  since(tSecs: number, step: HistoryStep): FigureRows;
  readonly bytes: number;
}

export function createHistory(all: readonly Pick<Series, "name" | "minute">[]): History {
  const series = all.length;
  const fine = new FigureRing({ series, rows: FINE_ROWS, stepSecs: SAMPLE_SECS });
  const coarse = new FigureRing({ series, rows: COARSE_ROWS, stepSecs: MINUTE_SECS });
  let minute = Number.NaN;
  let samples: (readonly number[])[] = [];

  return {
    add(tSecs, figures) {
      const values = all.map(({ name }) => figures[name] ?? Number.NaN);
      fine.add(tSecs, values);
      const now = Math.floor(tSecs / MINUTE_SECS);
      if (now !== minute) {
        if (samples.length > 0) coarse.add(minute * MINUTE_SECS, ofMinute(all, samples));
        minute = now;
        samples = [];
      }
      samples.push(values);
    },
    since: (tSecs, step) => (step === SAMPLE_SECS ? fine : coarse).since(tSecs),
    bytes: fine.bytes + coarse.bytes,
  };
}

function ofMinute(all: readonly Pick<Series, "minute">[], samples: readonly (readonly number[])[]): number[] {
  return all.map(({ minute }, at) => {
    const values = samples.flatMap((row) => (Number.isNaN(row[at]) ? [] : [row[at] ?? 0]));
    if (values.length === 0) return Number.NaN;
    if (minute === "max") return Math.max(...values);
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  });
}
