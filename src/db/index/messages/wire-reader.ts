const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Reads protobuf fields of the form that an encoder writes: varints of the least number of bytes, up to 2^53 - 1. Any other
 * input makes the reader fail: `failed` stays true, and what was read since is meaningless.
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

  /** The number of bytes that are not read yet. */
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

  /** Reads a 64-bit number, which is missing if it is 0. */
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

  /** Reads a length and passes over that many bytes. */
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
