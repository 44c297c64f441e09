/** The records of the protocol are far smaller. A larger length means that the bytes are not a length. */
export const MAX_RECORD_BYTES = 256 * 1024;
/** Enough for a length of 2^35 - 1. */
const MAX_LENGTH_BYTES = 5;

/** Bytes of a file that hold whole records. */
export interface FrameBlock {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** A record in a file: its length prefix and its payload. `payload` is a view. */
export interface Frame {
  readonly offset: number;
  readonly endOffset: number;
  readonly payload: Uint8Array;
  /** Where its bytes are. */
  readonly block: FrameBlock;
}

/** Returns the bytes of consecutive records, in as few pieces as possible. */
export function bytesOf(frames: readonly Pick<Frame, "offset" | "endOffset" | "block">[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < frames.length; ) {
    const { offset, block } = frames[at] as Frame;
    let endOffset = offset;
    for (; frames[at]?.block === block; at++) endOffset = frames[at]?.endOffset ?? endOffset;
    pieces.push(block.bytes.subarray(offset - block.offset, endOffset - block.offset));
  }
  return pieces;
}

/**
 * Splits a stream of chunks into records, each prefixed with its length as a varint. A malformed length, or one above
 * `maxRecordBytes`, is a fault: nothing after it can be read, because the start of the next record is unknown.
 */
export class FrameDecoder {
  readonly #maxRecordBytes: number;
  #rest: Uint8Array = new Uint8Array(0);
  #restOffset: number;
  #fault: string | undefined;

  constructor(startOffset: number, maxRecordBytes = MAX_RECORD_BYTES) {
    this.#restOffset = startOffset;
    this.#maxRecordBytes = maxRecordBytes;
  }

  /** The offset of the first byte that is not part of a complete record. */
  get offset(): number {
    return this.#restOffset;
  }

  /** The number of bytes received from `offset` on. Without a fault they are the start of a record. */
  get pendingBytes(): number {
    return this.#rest.length;
  }

  /** The fault at `offset`, if any. No records are returned after it. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** Adds the next bytes and returns the records that they complete, as views that stay valid. */
  push(chunk: Uint8Array): Frame[] {
    const bytes = this.#rest.length === 0 ? chunk : concatenate(this.#rest, chunk);
    const block: FrameBlock = { offset: this.#restOffset, bytes };
    const frames: Frame[] = [];
    let start = 0;
    while (this.#fault === undefined) {
      const length = this.#lengthAt(bytes, start);
      if (length === undefined || bytes.length - length.end < length.value) break;
      const end = length.end + length.value;
      frames.push({
        offset: this.#restOffset + start,
        endOffset: this.#restOffset + end,
        payload: bytes.subarray(length.end, end),
        block,
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
    this.#fault = "not a record length";
    return undefined;
  }
}

function concatenate(head: Uint8Array, tail: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(head.length + tail.length);
  bytes.set(head);
  bytes.set(tail, head.length);
  return bytes;
}
