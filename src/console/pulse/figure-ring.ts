/** The rows of a ring that are newer than some time, the oldest first. */
export interface FigureRows {
  /** Unix seconds, strictly rising. */
  readonly t: Float64Array;
  /** One column for each series, NaN where it had no value. */
  readonly columns: readonly Float32Array[];
}

/** Rows of figures at a fixed distance, of which it holds the newest. Its memory is taken once. */
export class FigureRing {
  readonly #rows: number;
  readonly #stepSecs: number;
  readonly #t: Float64Array;
  readonly #columns: readonly Float32Array[];
  /** How many rows were ever added since the ring was last empty. */
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
   * Adds a row. After the clock was set back the ring is emptied, because rows of a time to come would stand behind newer ones.
   *
   * @param values one for each series; NaN for none.
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

  /** The rows after a time. */
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
