/** The last events in each log that a power failure cannot lose. */
export interface DurableEnds {
  readonly outboxSeq: number;
  readonly hubSeq: number;
}

const OUTBOX = 0;
const HUB = 1;
/** The ends are stored plus one, so that 0 means unknown: the writer has not opened the index yet. */
const UNKNOWN = 0n;
const FULL_AT = Int32Array.BYTES_PER_ELEMENT;
const ENDS_AT = BigInt64Array.BYTES_PER_ELEMENT;
const BYTES = ENDS_AT + 2 * BigInt64Array.BYTES_PER_ELEMENT;

/**
 * Numbers the commits to the index, in memory that the writer and the readers of one process share. From it a reader learns
 * that nothing was committed since it last looked without opening a transaction, which would cost several system calls.
 *
 * The number is odd from before a commit until after it. The writer raises it before the commit is acknowledged. If a reader
 * finds the same even number before and after some statements, no commit became visible in between.
 *
 * A commit is visible before it is on disk. Event numbers that readers hand out permanently, and after which clients
 * continue, therefore end at the `durableEnds`.
 */
export class CommitSequence {
  /** Passed to the other threads. */
  readonly shared: SharedArrayBuffer;
  readonly #number: Int32Array;
  readonly #full: Int32Array;
  readonly #ends: BigInt64Array<SharedArrayBuffer>;

  constructor(shared = new SharedArrayBuffer(BYTES)) {
    this.shared = shared;
    this.#number = new Int32Array(shared, 0, 1);
    this.#full = new Int32Array(shared, FULL_AT, 1);
    this.#ends = new BigInt64Array(shared, ENDS_AT, 2);
  }

  /** Returns the number of the last commit; undefined during a commit. */
  read(): number | undefined {
    const number = Atomics.load(this.#number, 0);
    return isCommitting(number) ? undefined : number;
  }

  /** Marks the start of a commit. Called by the writer. */
  begin(): void {
    if (!isCommitting(Atomics.load(this.#number, 0))) Atomics.add(this.#number, 0, 1);
  }

  /** Marks the end of a commit, successful or not. Called by the writer. */
  end(): void {
    if (isCommitting(Atomics.load(this.#number, 0))) Atomics.add(this.#number, 0, 1);
  }

  /** Sets whether the index has reached its size limit. Called by the writer when that changes. */
  setFull(isFull: boolean): void {
    Atomics.store(this.#full, 0, isFull ? 1 : 0);
  }

  /** Whether the index has reached its size limit, so that the writer refuses every record. */
  get isFull(): boolean {
    return Atomics.load(this.#full, 0) === 1;
  }

  /** Records that the events up to these are on disk. Called by the writer. */
  moveDurableEnds({ outboxSeq, hubSeq }: DurableEnds): void {
    Atomics.store(this.#ends, OUTBOX, BigInt(outboxSeq + 1));
    Atomics.store(this.#ends, HUB, BigInt(hubSeq + 1));
  }

  /** Undefined before the writer has opened the index. */
  get durableEnds(): DurableEnds | undefined {
    const [outbox, hub] = [Atomics.load(this.#ends, OUTBOX), Atomics.load(this.#ends, HUB)];
    if (outbox === UNKNOWN || hub === UNKNOWN) return undefined;
    return { outboxSeq: Number(outbox) - 1, hubSeq: Number(hub) - 1 };
  }
}

function isCommitting(number: number): boolean {
  return (number & 1) === 1;
}
