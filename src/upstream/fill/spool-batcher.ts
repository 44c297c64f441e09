import type { PackedMessages } from "../../db/index/bulk/bulk-state.ts";
import type { RelayedBatch, RelayedOp } from "../../ingest/relayed-op.ts";
import type { EmitOps, FidOps, RelayWriter } from "../blocks/op-batcher.ts";

/** Approximate size of a transaction's messages in bytes. The unsynced log of the index grows by about twice as much. */
const BYTES_PER_BATCH = 8 * 1024 * 1024;
const MAX_WAITING_BYTES = 3 * BYTES_PER_BATCH;
/** How long, in milliseconds, a batch that is not full waits for more. */
const LINGER_MS = 100;
/** An fid with more bytes of messages than this, about 200,000 messages, is written row by row after the build. */
export const MAX_BYTES_OF_FID = 64 * 1024 * 1024;

/** Records of complete fids, with what becomes true once they are written. */
export interface Portion
  extends Pick<RelayedBatch, "spooledFids" | "spooledParts" | "snapshotKeys" | "todo"> {
  readonly ops: readonly RelayedOp[];
  readonly messages: readonly PackedMessages[];
}

/**
 * Combines fids that were read completely into batches for the bulk build. A batch contains only complete fids: what was
 * read of an fid stays in memory until it is complete, and is discarded if reading fails or if there is too much. After a
 * batch that could not be written, nothing more is written.
 */
export class SpoolBatcher implements FidOps {
  readonly #writer: RelayWriter;
  #waiting: Portion[] = [];
  #waitingBytes = 0;
  /** Retained after a failed read, because the scope reports each mentioned fid only once. */
  #mentioned: number[] = [];
  #running: Promise<void> | undefined;
  #isFlushing = false;
  #endLinger: () => void = () => {};
  #room = Promise.withResolvers<void>();
  #fault: unknown;
  readonly #tooLarge = new Set<number>();
  readonly #maxBytesOfFid: number;

  constructor(writer: RelayWriter, maxBytesOfFid = MAX_BYTES_OF_FID) {
    this.#writer = writer;
    this.#maxBytesOfFid = maxBytesOfFid;
  }

  /** Reports whether the fid was found to have too many messages to keep in memory. */
  isLater(fid: number): boolean {
    return this.#tooLarge.has(fid);
  }

  ofFid(fid: number): EmitOps {
    const allOps: RelayedOp[] = [];
    const messages: PackedMessages[] = [];
    let bytes = 0;
    return async (ops, mentioned, packed = []) => {
      this.throwIfFailed();
      for (const fid of mentioned) this.#mentioned.push(fid);
      for (const pack of packed) bytes += pack.bytes.length;
      if (bytes > this.#maxBytesOfFid) {
        this.#tooLarge.add(fid);
        throw new Error(`fid ${fid} has too many messages for the bulk build; they are read after it`);
      }
      allOps.push(...ops);
      messages.push(...packed);
      if (ops.some(({ kind }) => kind === "fidComplete")) await this.add({ ops: allOps, messages });
    };
  }

  async flush(): Promise<void> {
    this.#isFlushing = true;
    this.#endLinger();
    if (this.#mentioned.length > 0) this.#running ??= this.#run();
    await this.#running;
    this.#isFlushing = false;
    this.throwIfFailed();
  }

  throwIfFailed(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  /** Adds complete fids. Resolves when there is room for more. */
  async add(portion: Portion): Promise<void> {
    this.throwIfFailed();
    this.#waiting.push(portion);
    this.#waitingBytes += bytesOf(portion);
    if (this.#waitingBytes >= BYTES_PER_BATCH) this.#endLinger();
    this.#running ??= this.#run();
    while (this.#waitingBytes > MAX_WAITING_BYTES) await this.#room.promise;
    this.throwIfFailed();
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.length + this.#mentioned.length > 0) {
        if (this.#waitingBytes < BYTES_PER_BATCH && !this.#isFlushing) await this.#linger();
        await this.#writeNext();
        this.#makeRoom();
      }
    } catch (cause) {
      this.#fault = cause;
      this.#waiting = [];
      this.#waitingBytes = 0;
      this.#makeRoom();
    } finally {
      this.#running = undefined;
    }
  }

  async #writeNext(): Promise<void> {
    let portions = 0;
    let bytes = 0;
    for (; portions < this.#waiting.length && bytes < BYTES_PER_BATCH; portions++)
      bytes += bytesOf(this.#waiting[portions]);
    const batch = this.#waiting.splice(0, portions);
    this.#waitingBytes -= bytes;
    const mentioned = this.#mentioned;
    this.#mentioned = [];
    await this.#writer.apply({
      ops: batch.flatMap(({ ops }) => ops),
      spooled: batch.flatMap(({ messages }) => messages),
      spooledFids: batch.flatMap(({ spooledFids = [] }) => spooledFids),
      spooledParts: batch.flatMap(({ spooledParts = [] }) => spooledParts),
      snapshotKeys: batch.flatMap(({ snapshotKeys = [] }) => snapshotKeys),
      todo: batch.flatMap(({ todo = [] }) => todo),
      positions: [],
      mentioned,
    });
  }

  #makeRoom(): void {
    this.#room.resolve();
    this.#room = Promise.withResolvers<void>();
  }

  async #linger(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#endLinger = resolve;
    const timer = setTimeout(resolve, LINGER_MS);
    await promise;
    clearTimeout(timer);
  }
}

function bytesOf(portion: Portion | undefined): number {
  return portion?.messages.reduce((sum, { bytes }) => sum + bytes.length, 0) ?? 0;
}
