const FIRST_CAPACITY = 64 * 1024;
const NULL_LENGTH = 0xffff_ffff;

/** Appends integers, texts and byte strings to a growing buffer. Integers are stored as doubles. */
export class ByteWriter {
  #buffer = Buffer.allocUnsafe(FIRST_CAPACITY);
  #at = 0;

  /** Bytes written so far. */
  get size(): number {
    return this.#at;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#at++] = value;
  }

  int(value: number): void {
    this.#reserve(8);
    this.#buffer.writeDoubleLE(value, this.#at);
    this.#at += 8;
  }

  bytes(value: Uint8Array): void {
    this.#reserve(4 + value.length);
    this.#buffer.writeUInt32LE(value.length, this.#at);
    this.#buffer.set(value, this.#at + 4);
    this.#at += 4 + value.length;
  }

  bytesOrNull(value: Uint8Array | null): void {
    if (value === null) this.#null();
    else this.bytes(value);
  }

  text(value: string): void {
    // A UTF-16 unit takes at most 3 bytes.
    this.#reserve(4 + value.length * 3);
    const length = this.#buffer.write(value, this.#at + 4, "utf8");
    this.#buffer.writeUInt32LE(length, this.#at);
    this.#at += 4 + length;
  }

  textOrNull(value: string | null): void {
    if (value === null) this.#null();
    else this.text(value);
  }

  intOrText(value: number | string): void {
    const isText = typeof value === "string";
    this.byte(isText ? 1 : 0);
    if (isText) this.text(value);
    else this.int(value);
  }

  /** Returns the bytes written, in a buffer of exactly their size. */
  finish(): Uint8Array {
    return new Uint8Array(this.#buffer.subarray(0, this.#at));
  }

  #null(): void {
    this.#reserve(4);
    this.#buffer.writeUInt32LE(NULL_LENGTH, this.#at);
    this.#at += 4;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#at + bytes));
    grown.set(this.#buffer.subarray(0, this.#at));
    this.#buffer = grown;
  }
}

/** Reads what a `ByteWriter` wrote, in the same order. Byte strings are views of the buffer. */
export class ByteReader {
  readonly #buffer: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#buffer.length;
  }

  byte(): number {
    return this.#buffer[this.#at++] as number;
  }

  int(): number {
    const value = this.#buffer.readDoubleLE(this.#at);
    this.#at += 8;
    return value;
  }

  bytes(): Uint8Array {
    const value = this.bytesOrNull();
    if (value === null) throw new RangeError("packed bytes are null");
    return value;
  }

  bytesOrNull(): Uint8Array | null {
    const length = this.#length();
    if (length === NULL_LENGTH) return null;
    const value = this.#buffer.subarray(this.#at, this.#at + length);
    this.#at += length;
    return value;
  }

  text(): string {
    return this.textOrNull() ?? "";
  }

  textOrNull(): string | null {
    const length = this.#length();
    if (length === NULL_LENGTH) return null;
    const value = this.#buffer.toString("utf8", this.#at, this.#at + length);
    this.#at += length;
    return value;
  }

  intOrText(): number | string {
    return this.byte() === 1 ? this.text() : this.int();
  }

  #length(): number {
    const length = this.#buffer.readUInt32LE(this.#at);
    this.#at += 4;
    return length;
  }
}
