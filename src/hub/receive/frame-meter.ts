/** Sizes of RFC 9113, sections 3.4 and 4.1. */
const PREFACE_BYTES = 24;
const FRAME_HEAD_BYTES = 9;

const DATA = 0x0;
const HEADERS = 0x1;
const PRIORITY = 0x2;
const PING = 0x6;
const WINDOW_UPDATE = 0x8;
const CONTINUATION = 0x9;
const END_STREAM = 0x1;

/** The price of a frame that starts, completes or ends a call: about 50 µs. */
const STEP_PRICE = 16;
/** The price of any other frame. */
const FRAME_PRICE = 1;
const BYTES_PER_UNIT = 4096;
/** Decompressing headers takes longer than copying bytes. */
const HEADER_BYTES_PER_UNIT = 256;

/** The price of an ordinary unary call: its headers, and its request. */
export const CALL_PRICE = 2 * STEP_PRICE;

/** Follows the frames of an HTTP/2 connection, and how much work each makes for the thread. */
export class FrameMeter {
  /** Bytes that are left of the current frame, or of the preface. */
  #left = PREFACE_BYTES;
  /** The head of the next frame as far as it has arrived. */
  readonly #head = Buffer.alloc(FRAME_HEAD_BYTES);
  #headBytes = 0;
  #price = 0;

  /** The price of the frames that began in the last call of `take`. */
  get price(): number {
    return this.#price;
  }

  /** Returns how many of the bytes that arrived next belong to frames that begin before the price reaches the limit. */
  take(bytes: Buffer, limit: number): number {
    this.#price = 0;
    let at = 0;
    while (at < bytes.length) {
      if (this.#left > 0) {
        const length = Math.min(this.#left, bytes.length - at);
        this.#left -= length;
        at += length;
        continue;
      }
      if (this.#price >= limit) break;
      const length = Math.min(FRAME_HEAD_BYTES - this.#headBytes, bytes.length - at);
      bytes.copy(this.#head, this.#headBytes, at, at + length);
      this.#headBytes += length;
      at += length;
      if (this.#headBytes === FRAME_HEAD_BYTES) this.#begin();
    }
    return at;
  }

  #begin(): void {
    this.#headBytes = 0;
    this.#left = this.#head.readUIntBE(0, 3);
    this.#price += priceOf(this.#head.readUInt8(3), this.#head.readUInt8(4), this.#left);
  }
}

function priceOf(type: number, flags: number, bytes: number): number {
  switch (type) {
    case DATA: {
      const isLast = (flags & END_STREAM) !== 0;
      return (isLast ? STEP_PRICE : FRAME_PRICE) + Math.floor(bytes / BYTES_PER_UNIT);
    }
    case HEADERS:
      return STEP_PRICE + Math.floor(bytes / HEADER_BYTES_PER_UNIT);
    case CONTINUATION:
      return FRAME_PRICE + Math.floor(bytes / HEADER_BYTES_PER_UNIT);
    case PRIORITY:
    case PING:
    case WINDOW_UPDATE:
      return FRAME_PRICE;
    default:
      return STEP_PRICE;
  }
}
