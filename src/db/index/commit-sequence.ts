/**
 * Numbers the commits to the index in memory that the writer and the readers of one process share. A reader learns from it
 * that nothing was committed since it last looked, without opening a transaction, which costs several system calls.
 *
 * The number is odd from before a commit until after it. The writer raises it before the commit is acknowledged. If a
 * reader finds the same even number before and after some statements, no commit became visible in between.
 */
export class CommitSequence {
  /** Passed to the other threads. */
  readonly shared: SharedArrayBuffer;
  readonly #number: Int32Array;

  constructor(shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#number = new Int32Array(shared);
  }

  /** Returns the number of the last commit; undefined during a commit. */
  read(): number | undefined {
    const number = Atomics.load(this.#number, 0);
    return isCommitting(number) ? undefined : number;
  }

  /** Called by the writer before each commit. */
  begin(): void {
    if (!isCommitting(Atomics.load(this.#number, 0))) Atomics.add(this.#number, 0, 1);
  }

  /** Called by the writer after each commit, and after one that failed. */
  end(): void {
    if (isCommitting(Atomics.load(this.#number, 0))) Atomics.add(this.#number, 0, 1);
  }
}

function isCommitting(number: number): boolean {
  return (number & 1) === 1;
}
