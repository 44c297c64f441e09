/**
 * Fills an empty index in sorted order instead of row by row: messages are first appended to tables without indexes (the
 * spool), then every table of the index is built from them in the order of its keys.
 *
 * The spool and its progress are in the index file. Each step is one transaction that also records how far the build has come, so that
 * the build continues from there after a crash. Until the build is finished the index has no usable content for reads.
 *
 * Commits of the spool and the build are not synced one by one. `sync` makes all of them durable; it also runs by
 * itself every 256 MB. A power failure takes away the last commits only, with the records of progress in them. So report nothing
 * outside of the index file (to an operator, another node or another file) before a `sync` that follows its commit.
 */
export interface BulkBuild {
  readonly phase: BulkPhase;
  /**
   * Appends messages, and whatever `alongside` writes, in one transaction. `alongside` removes the fids from the todo list, or moves
   * a position: it records the messages as done. A `batch` that is a function runs in the transaction, too. Messages of one slot are
   * resolved by the build with the rules of the protocol, wherever in the spool they are.
   *
   * @throws StorageError when nothing of it was written. The same call can be repeated.
   */
  append(batch: readonly PackedMessages[] | (() => readonly PackedMessages[]), alongside?: () => void): void;
  /** Makes every commit so far durable. */
  sync(): void;
  /**
   * Runs the next step of the build. The first call ends the spool: nothing can be appended after it. A step is one transaction;
   * in the largest index a step may take minutes. Returns undefined when the build has finished; everything is then
   * durable, and the spool is gone.
   *
   * @throws StorageError when the step was not done. The same call can be repeated.
   */
  step(): BulkProgress | undefined;
}

/** The state of the index file: appending to the spool, building from it, or an ordinary index. */
export type BulkPhase = "spooling" | "building" | "finished";

/** Progress of a build, for people and for /status. */
export interface BulkProgress {
  /** The stage that runs next, in words, such as `casts`. */
  readonly stage: string;
  /** Share of the work that is done, 0 to 1, estimated from the sizes of the stages. */
  readonly done: number;
}

/**
 * Messages of any number of fids in the form in which they travel between threads. Made by `packMessages` (packed-messages.ts)
 * from split messages, so that decoding, hashing, verification and splitting all happen outside of the writer's thread.
 */
export interface PackedMessages {
  readonly count: number;
  readonly bytes: Uint8Array;
}
