import type { RelayedBatch, RelayedOp } from "../ingest/relay.ts";

/** Who writes what is relayed; resolves when it is durable, throws when nothing of the batch is. */
export interface RelayWriter {
  apply(batch: RelayedBatch): Promise<void>;
}

/** A transaction that is worth its sync, and holds nobody up for long. */
const OPS_PER_BATCH = 1000;
const MAX_WAITING_OPS = 4000;
/** So long a batch that is not full waits for more. */
const LINGER_MS = 20;

interface Portion {
  readonly ops: readonly RelayedOp[];
  readonly mentioned: readonly number[];
}

/**
 * Joins the operations of many readers into batches, which are written one after another in the order in which they came.
 * After a batch that could not be written nothing is written any more, so that no operation is ever ahead of one before
 * it.
 */
export class OpBatcher {
  readonly #writer: RelayWriter;
  readonly #roomWaiters: PromiseWithResolvers<void>[] = [];
  #waiting: Portion[] = [];
  #waitingOps = 0;
  #running: Promise<void> | undefined;
  #isEnding = false;
  #endLinger: () => void = () => {};
  #fault: unknown;

  constructor(writer: RelayWriter) {
    this.#writer = writer;
  }

  /** Takes operations; resolves when there is room for more. */
  async add(ops: readonly RelayedOp[], mentioned: readonly number[]): Promise<void> {
    this.assertSound();
    this.#waiting.push({ ops: ops.slice(0, OPS_PER_BATCH), mentioned });
    for (let at = OPS_PER_BATCH; at < ops.length; at += OPS_PER_BATCH)
      this.#waiting.push({ ops: ops.slice(at, at + OPS_PER_BATCH), mentioned: [] });
    this.#waitingOps += ops.length;
    if (this.#waitingOps >= OPS_PER_BATCH) this.#endLinger();
    this.#running ??= this.#run();
    if (this.#waitingOps <= MAX_WAITING_OPS) return;
    const room = Promise.withResolvers<void>();
    this.#roomWaiters.push(room);
    await room.promise;
  }

  /** Resolves when everything is written. */
  async drained(): Promise<void> {
    this.#isEnding = true;
    this.#endLinger();
    await this.#running;
    this.#isEnding = false;
    this.assertSound();
  }

  /** Throws the fault of the batch that could not be written, if there was one. */
  assertSound(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        if (this.#waitingOps < OPS_PER_BATCH && !this.#isEnding) await this.#linger();
        await this.#writer.apply(this.#take());
        for (const { resolve } of this.#roomWaiters.splice(0)) resolve();
      }
    } catch (cause) {
      this.#fault = cause;
      this.#waiting = [];
      for (const { reject } of this.#roomWaiters.splice(0)) reject(cause);
    } finally {
      this.#running = undefined;
    }
  }

  async #linger(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#endLinger = resolve;
    const timer = setTimeout(resolve, LINGER_MS);
    await promise;
    clearTimeout(timer);
  }

  #take(): RelayedBatch {
    const ops: RelayedOp[] = [];
    const mentioned: number[] = [];
    let taken = 0;
    while (taken < this.#waiting.length && ops.length < OPS_PER_BATCH) {
      const portion = this.#waiting[taken++];
      for (const op of portion?.ops ?? []) ops.push(op);
      for (const fid of portion?.mentioned ?? []) mentioned.push(fid);
    }
    this.#waiting = this.#waiting.slice(taken);
    this.#waitingOps -= ops.length;
    return { ops, positions: [], mentioned };
  }
}
