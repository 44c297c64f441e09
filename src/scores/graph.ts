/**
 * Which accounts acted towards which. The pairs of a target are adjacent, so that sums over its sources read memory in
 * order.
 */
export interface EvidenceGraph {
  /** Ascending. The rest of the graph names an account by its index here. */
  readonly fids: Float64Array;
  /** The pairs of account j are those from `offsets[j]` up to, but not including, `offsets[j + 1]`. */
  readonly offsets: Uint32Array;
  /** The account that acted, ascending within a target. */
  readonly sources: Uint32Array;
  /** The weight of the evidence in eighths, from 1 to 255. */
  readonly weights: Uint8Array;
  /** The last act of each account in Unix seconds; 0 for none. */
  readonly lastActs: Uint32Array;
}

/** Thrown if the graph would take more memory than `scores.max_memory_mb`. */
export class GraphTooLargeError extends Error {
  override name = "GraphTooLargeError";
}

const BYTES_PER_PAIR = 5;
/** Bytes per account in the arrays of the method and its result. */
const BYTES_PER_ACCOUNT = 100;

/** Weights of dormant sources below this one (a bare follow) are left out first when memory is short. */
const FAINT_WEIGHT = 4;

/**
 * Collects the pairs of one target after another. The arrays have their maximum size from the start, because the system only
 * allocates memory that is written, and nothing has to be copied.
 */
export class GraphBuilder {
  readonly #fids: Float64Array;
  readonly #lastActs: Uint32Array;
  readonly #isDormant: (account: number) => boolean;
  readonly #offsets: Uint32Array;
  readonly #sources: Uint32Array;
  readonly #weights: Uint8Array;
  #pairs = 0;
  #target = 0;
  #isLean = false;
  #leftOut = 0;

  /** @param maxBytes limit for the finished graph and the arrays of the method. */
  constructor(options: {
    readonly fids: Float64Array;
    readonly lastActs: Uint32Array;
    readonly isDormant: (account: number) => boolean;
    readonly maxBytes: number;
  }) {
    this.#fids = options.fids;
    this.#lastActs = options.lastActs;
    this.#isDormant = options.isDormant;
    this.#offsets = new Uint32Array(options.fids.length + 1);
    const left = options.maxBytes - options.fids.length * BYTES_PER_ACCOUNT;
    const maxPairs = Math.floor(left / BYTES_PER_PAIR);
    if (maxPairs < 1) throw tooLarge();
    this.#sources = new Uint32Array(maxPairs);
    this.#weights = new Uint8Array(maxPairs);
  }

  /** Number of pairs that were left out because memory was short. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** Adds a pair to the current target. Call it in the order of sources. */
  add(source: number, weight: number): void {
    if (weight === 0) return;
    if (this.#pairs === this.#sources.length) this.#makeRoom();
    if (this.#isLean && this.#isFaint(source, weight)) {
      this.#leftOut += 1;
      return;
    }
    this.#sources[this.#pairs] = source;
    this.#weights[this.#pairs] = weight;
    this.#pairs += 1;
  }

  /** Ends the current target. */
  endTarget(): void {
    this.#target += 1;
    this.#offsets[this.#target] = this.#pairs;
  }

  finish(): EvidenceGraph {
    while (this.#target < this.#fids.length) this.endTarget();
    return {
      fids: this.#fids,
      offsets: this.#offsets,
      sources: this.#sources.subarray(0, this.#pairs),
      weights: this.#weights.subarray(0, this.#pairs),
      lastActs: this.#lastActs,
    };
  }

  #isFaint(source: number, weight: number): boolean {
    return weight < FAINT_WEIGHT && this.#isDormant(source);
  }

  /**
   * Makes room.
   *
   * @throws GraphTooLargeError when there is none.
   */
  #makeRoom(): void {
    if (this.#isLean) throw tooLarge();
    this.#isLean = true;
    this.#dropFaint();
    if (this.#pairs === this.#sources.length) throw tooLarge();
  }

  #dropFaint(): void {
    let kept = 0;
    let start = 0;
    for (let target = 0; target <= this.#target; target++) {
      const end = target === this.#target ? this.#pairs : (this.#offsets[target + 1] ?? 0);
      for (let at = start; at < end; at++) {
        const source = this.#sources[at] ?? 0;
        const weight = this.#weights[at] ?? 0;
        if (this.#isFaint(source, weight)) continue;
        this.#sources[kept] = source;
        this.#weights[kept] = weight;
        kept += 1;
      }
      start = end;
      if (target < this.#target) this.#offsets[target + 1] = kept;
    }
    this.#leftOut += this.#pairs - kept;
    this.#pairs = kept;
  }
}

function tooLarge(): GraphTooLargeError {
  return new GraphTooLargeError("the network does not fit into scores.max_memory_mb");
}
