/** No record of the protocol comes near it; a longer one means that what is read is no length. */
export const MAX_RECORD_BYTES = 256 * 1024;
/** A length of at most 2^35 - 1. */
const MAX_LENGTH_BYTES = 5;

/** A record as it stands in a file. `raw` is its length and its payload, `payload` a view of the latter. */
export interface Frame {
  readonly offset: number;
  readonly endOffset: number;
  readonly raw: Uint8Array;
  readonly payload: Uint8Array;
}

/**
 * Cuts a stream of chunks into records, each behind its length as a varint. A length that is none, or one above
 * `maxRecordBytes`, is a fault: nothing behind it can be read, because nobody knows where the next record begins.
 */
export class FrameCutter {
  readonly #maxRecordBytes: number;
  #rest: Uint8Array = new Uint8Array(0);
  #restOffset: number;
  #fault: string | undefined;

  constructor(startOffset: number, maxRecordBytes = MAX_RECORD_BYTES) {
    this.#restOffset = startOffset;
    this.#maxRecordBytes = maxRecordBytes;
  }

  /** Where the first byte stands that belongs to no record so far. */
  get offset(): number {
    return this.#restOffset;
  }

  /** How many bytes stand there; they are the beginning of a record, unless there is a fault. */
  get pendingBytes(): number {
    return this.#rest.length;
  }

  /** What is wrong at `offset`, after which nothing more is cut. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** Takes the next bytes and returns the records that they complete, as views that stay valid. */
  push(chunk: Uint8Array): Frame[] {
    const bytes = this.#rest.length === 0 ? chunk : concatenated(this.#rest, chunk);
    const frames: Frame[] = [];
    let start = 0;
    while (this.#fault === undefined) {
      const length = this.#lengthAt(bytes, start);
      if (length === undefined || bytes.length - length.end < length.value) break;
      const end = length.end + length.value;
      frames.push({
        offset: this.#restOffset + start,
        endOffset: this.#restOffset + end,
        raw: bytes.subarray(start, end),
        payload: bytes.subarray(length.end, end),
      });
      start = end;
    }
    this.#rest = bytes.subarray(start);
    this.#restOffset += start;
    return frames;
  }

  #lengthAt(bytes: Uint8Array, start: number): { value: number; end: number } | undefined {
    let value = 0;
    for (let index = 0; index < MAX_LENGTH_BYTES; index++) {
      const byte = bytes[start + index];
      if (byte === undefined) return undefined;
      value += (byte & 0x7f) * 2 ** (7 * index);
      if (byte < 0x80) {
        if (value <= this.#maxRecordBytes) return { value, end: start + index + 1 };
        this.#fault = `a record of ${value} bytes, more than the ${this.#maxRecordBytes} allowed`;
        return undefined;
      }
    }
    this.#fault = "no record length";
    return undefined;
  }
}

function concatenated(head: Uint8Array, tail: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(head.length + tail.length);
  bytes.set(head);
  bytes.set(tail, head.length);
  return bytes;
}
