import type { BulkProgress, PackedMessages } from "../../db/index/bulk/bulk-state.ts";
import { type RelayedBatch, type RelayedOp, sizeOfOp } from "../../ingest/relayed-op.ts";

/** Writes relayed operations. */
export interface RelayWriter {
  /**
   * Writes a batch. Resolves when it is durable; rejects if nothing of it is. A batch with spooled messages becomes durable
   * together with the preceding ones, at the end of the bulk build at the latest.
   */
  apply(batch: RelayedBatch): Promise<void>;
  /** Runs the next step of the bulk build. Resolves with undefined when the index is built and durable. */
  buildStep(): Promise<BulkProgress | undefined>;
}

/**
 * Accepts operations, the fids that they mention, and messages packed for the bulk build. Resolves when there is room for
 * more.
 */
export type EmitOps = (
  ops: readonly RelayedOp[],
  mentioned: readonly number[],
  packed?: readonly PackedMessages[],
) => Promise<void>;

/** Accepts the operations of the fids being read. */
export interface FidOps {
  /** Returns a function that accepts the operations of one fid, for one attempt to read it. */
  ofFid(fid: number): EmitOps;
  /** Reports whether an fid of the todo list must not be read now. */
  isLater?(fid: number): boolean;
  /** Resolves when everything is written. */
  flush(): Promise<void>;
  /** Throws the error of the batch that could not be written, if there was one. */
  throwIfFailed(): void;
}

/**
 * Records per transaction: enough to be worth a sync, few enough for a short wait. A transaction may exceed it by one
 * operation.
 */
const RECORDS_PER_BATCH = 1000;
const MAX_WAITING_RECORDS = 4000;
/** How long, in milliseconds, a batch that is not full waits for more. */
const LINGER_MS = 20;

interface Portion {
  readonly ops: readonly RelayedOp[];
  readonly records: number;
  readonly mentioned: readonly number[];
}

/**
 * Combines the operations of many readers into batches, which are written one after another in the order of arrival. After a
 * batch that could not be written, nothing more is written, so that no operation is written before an earlier one.
 */
export class OpBatcher implements FidOps {
  readonly #writer: RelayWriter;
  readonly #roomWaiters: PromiseWithResolvers<void>[] = [];
  #waiting: Portion[] = [];
  #waitingRecords = 0;
  #running: Promise<void> | undefined;
  #isFlushing = false;
  #endLinger: () => void = () => {};
  #fault: unknown;

  constructor(writer: RelayWriter) {
    this.#writer = writer;
  }

  ofFid(): EmitOps {
    return (ops, mentioned) => this.add(ops, mentioned);
  }

  /** Adds operations. Resolves when there is room for more. */
  async add(ops: readonly RelayedOp[], mentioned: readonly number[]): Promise<void> {
    this.throwIfFailed();
    const portions = portionsOf(ops, mentioned);
    this.#waiting.push(...portions);
    for (const { records } of portions) this.#waitingRecords += records;
    if (this.#waitingRecords >= RECORDS_PER_BATCH) this.#endLinger();
    this.#running ??= this.#run();
    if (this.#waitingRecords <= MAX_WAITING_RECORDS) return;
    const room = Promise.withResolvers<void>();
    this.#roomWaiters.push(room);
    await room.promise;
  }

  /** Resolves when everything is written. */
  async flush(): Promise<void> {
    this.#isFlushing = true;
    this.#endLinger();
    await this.#running;
    this.#isFlushing = false;
    this.throwIfFailed();
  }

  /** Throws the error of the batch that could not be written, if there was one. */
  throwIfFailed(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        if (this.#waitingRecords < RECORDS_PER_BATCH && !this.#isFlushing) await this.#linger();
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
    let portions = 0;
    let records = 0;
    while (portions < this.#waiting.length && records < RECORDS_PER_BATCH) {
      const portion = this.#waiting[portions++];
      for (const op of portion?.ops ?? []) ops.push(op);
      for (const fid of portion?.mentioned ?? []) mentioned.push(fid);
      records += portion?.records ?? 0;
    }
    this.#waiting = this.#waiting.slice(portions);
    this.#waitingRecords -= records;
    return { ops, positions: [], mentioned };
  }
}

/** Splits operations into portions that fit into one batch. The mentioned fids belong to the first one. */
function portionsOf(ops: readonly RelayedOp[], mentioned: readonly number[]): Portion[] {
  const portions: Portion[] = [];
  let portion: RelayedOp[] = [];
  let records = 0;
  for (const op of ops) {
    portion.push(op);
    records += sizeOfOp(op);
    if (records < RECORDS_PER_BATCH) continue;
    portions.push({ ops: portion, records, mentioned: portions.length === 0 ? mentioned : [] });
    portion = [];
    records = 0;
  }
  if (portion.length > 0 || portions.length === 0)
    portions.push({ ops: portion, records, mentioned: portions.length === 0 ? mentioned : [] });
  return portions;
}

/**
 * Groups the items of `source` that arrive while the consumer processes the previous group: single items if they arrive
 * slowly, many at a time if they arrive fast. At most `maxWeight` is buffered, but at least one item.
 *
 * @param abandon ends the source if the consumer stops early, because the source may be waiting for an item that never
 * arrives.
 */
export async function* inBatches<Item>(
  source: AsyncGenerator<Item>,
  weightOf: (item: Item) => number,
  maxWeight: number,
  abandon: () => void,
): AsyncGenerator<Item[]> {
  let waiting: Item[] = [];
  let weight = 0;
  let isOver = false;
  let fault: unknown;
  let changed = Promise.withResolvers<void>();
  const notify = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const reading = (async () => {
    try {
      for await (const item of source) {
        waiting.push(item);
        weight += weightOf(item);
        notify();
        while (weight >= maxWeight && !isOver) await changed.promise;
        if (isOver) return;
      }
    } catch (cause) {
      fault = cause;
    } finally {
      isOver = true;
      notify();
    }
  })();
  try {
    for (;;) {
      while (waiting.length === 0 && !isOver) await changed.promise;
      if (waiting.length === 0) break;
      const batch = waiting;
      waiting = [];
      weight = 0;
      notify();
      yield batch;
    }
    if (fault !== undefined) throw fault;
  } finally {
    if (!isOver) {
      isOver = true;
      abandon();
      notify();
    }
    await reading;
  }
}
