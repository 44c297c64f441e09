/** More than any fixed part of a message: tags, lengths and numbers. */
const MARGIN_BYTES = 256;

/** Writes protobuf fields into a buffer that is reused from message to message and grows to the largest. */
export class WireWriter {
  /** Where the next byte goes. */
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

  /** Returns a copy of what is written from `start` to `at`. */
  copy(start: number): Uint8Array {
    return new Uint8Array(this.#buffer.subarray(start, this.at));
  }

  /** Whether `bytes` are what is written from `start` to `at`. */
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

  /** Writes a number, unless it is 0, the default. */
  number(tag: number, value: number): void {
    if (value === 0) return;
    this.tag(tag);
    this.varint(value);
  }

  /** Writes a text. Room for three bytes a UTF-16 unit must be reserved. */
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

  /** Writes a part of `bytes` without tag and length. */
  raw(bytes: Uint8Array, start: number, end: number): void {
    this.#buffer.set(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end), this.at);
    this.at += end - start;
  }
}

/** The bytes of `value` as a varint. */
export function varintBytes(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  if (value < 0x1000_0000) return 4;
  let bytes = 5;
  for (let rest = Math.floor(value / 0x8_0000_0000); rest > 0; rest = Math.floor(rest / 128)) bytes++;
  return bytes;
}

/** The bytes of a number with a tag of one byte. 0, the default, has none. */
export function numberBytes(value: number): number {
  return value === 0 ? 0 : 1 + varintBytes(value);
}
