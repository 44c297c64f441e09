import { messageHashIn } from "../../../protocol/message/message-hash.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Reads protobuf fields in the form that an encoder writes: minimal varints, up to 2^53 - 1. Any other input makes the
 * reader fail: `failed` stays true, and whatever is read afterwards is meaningless.
 */
export class WireReader {
  #bytes: Uint8Array = new Uint8Array();
  #end = 0;
  at = 0;
  failed = false;

  /** Starts to read `bytes`. */
  reset(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.#end = bytes.length;
    this.at = 0;
    this.failed = false;
  }

  /** Number of bytes not read yet. */
  get left(): number {
    return this.#end - this.at;
  }

  /** Reads a tag below 128 if it is next. */
  take(tag: number): boolean {
    if (this.at >= this.#end || this.#bytes[this.at] !== tag) return false;
    this.at++;
    return true;
  }

  varint(): number {
    const bytes = this.#bytes;
    let value = 0;
    let scale = 1;
    while (this.at < this.#end) {
      const byte = bytes[this.at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if ((byte === 0 && scale > 1) || value > Number.MAX_SAFE_INTEGER) this.failed = true;
        return value;
      }
      scale *= 128;
      if (scale > Number.MAX_SAFE_INTEGER) break;
    }
    this.failed = true;
    return 0;
  }

  /** Reads a varint of a 32-bit field. A larger value fails: decoders keep only its lower bits. */
  varint32(): number {
    const value = this.varint();
    if (value > 0xffff_ffff) this.failed = true;
    return value;
  }

  /** Reads a 64-bit number, which is absent if it is 0. */
  number(tag: number): number {
    return this.take(tag) ? this.varint() : 0;
  }

  /** Like `number`, for a 32-bit field. */
  uint32(tag: number): number {
    return this.take(tag) ? this.varint32() : 0;
  }

  /** Reads a length. Fails if fewer bytes are left. */
  length(): number {
    const length = this.varint();
    if (length <= this.#end - this.at) return length;
    this.failed = true;
    return 0;
  }

  /** Reads a length and that many bytes, as a view. */
  bytes(): Uint8Array {
    const length = this.length();
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }

  /** Reads a length and skips that many bytes. */
  skip(): void {
    const length = this.length();
    this.at += length;
  }

  text(): string {
    return decoder.decode(this.bytes());
  }

  /** Returns a view of the bytes from `start` to `end`. */
  view(start: number, end: number): Uint8Array {
    return this.#bytes.subarray(start, end);
  }
}

/** Upper bound for the fixed parts of a message: tags, lengths and numbers. */
const MARGIN_BYTES = 256;

/** Writes protobuf fields into a buffer that is reused for all messages and grows to fit the largest. */
export class WireWriter {
  /** Offset of the next byte. */
  at = 0;
  #buffer = Buffer.allocUnsafeSlow(16_384);

  /** Makes room for `bytes` bytes of texts and blobs, and for the fields around them. */
  reserve(bytes: number): void {
    const needed = this.at + bytes + MARGIN_BYTES;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * needed);
    larger.set(this.#buffer.subarray(0, this.at));
    this.#buffer = larger;
  }

  /** Returns a copy of the bytes written from `start` to `at`. */
  copy(start: number): Uint8Array {
    return new Uint8Array(this.#buffer.subarray(start, this.at));
  }

  /** Returns the hash of a message whose data is the bytes written from `start` to `at`. */
  hash(start: number): Uint8Array {
    return messageHashIn(this.#buffer, start, this.at);
  }

  /** Reports whether `bytes` equal those written from `start` to `at`. */
  equals(start: number, bytes: Uint8Array): boolean {
    if (bytes.length !== this.at - start) return false;
    return this.#buffer.compare(bytes, 0, bytes.length, start, this.at) === 0;
  }

  /** Writes a tag below 128. */
  tag(tag: number): void {
    this.#buffer[this.at++] = tag;
  }

  varint(value: number): void {
    let rest = value;
    // Shifts are exact for 31 bits only.
    while (rest > 0x7fff_ffff) {
      this.#buffer[this.at++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    while (rest > 0x7f) {
      this.#buffer[this.at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#buffer[this.at++] = rest;
  }

  /** Writes a number unless it is 0, the default. */
  number(tag: number, value: number): void {
    if (value === 0) return;
    this.tag(tag);
    this.varint(value);
  }

  /** Writes a text. The caller must have reserved three bytes per UTF-16 unit. */
  text(tag: number, text: string): void {
    this.tag(tag);
    this.varint(Buffer.byteLength(text));
    this.at += this.#buffer.write(text, this.at);
  }

  bytes(tag: number, bytes: Uint8Array): void {
    this.tag(tag);
    this.varint(bytes.length);
    this.raw(bytes, 0, bytes.length);
  }

  /** Writes a part of `bytes` without tag or length. */
  raw(bytes: Uint8Array, start: number, end: number): void {
    this.#buffer.set(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end), this.at);
    this.at += end - start;
  }
}

export function varintBytes(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  if (value < 0x1000_0000) return 4;
  let bytes = 5;
  for (let rest = Math.floor(value / 0x8_0000_0000); rest > 0; rest = Math.floor(rest / 128)) bytes++;
  return bytes;
}

/** Returns the encoded size of a number with a one-byte tag. 0, the default, is not encoded. */
export function numberBytes(value: number): number {
  return value === 0 ? 0 : 1 + varintBytes(value);
}
