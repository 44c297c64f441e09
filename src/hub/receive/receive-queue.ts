import { FrameMeter } from "./frame-meter.ts";

/** What a part takes beside its bytes. */
const PART_BYTES = 256;

/** Bytes that a connection has received and that wait for their turn. */
export class ReceiveQueue {
  readonly #forward: (bytes: Buffer) => void;
  readonly #meter = new FrameMeter();
  readonly #parts: Buffer[] = [];
  /** How much of the first part has been forwarded. */
  #offset = 0;
  #bytes = 0;

  constructor(forward: (bytes: Buffer) => void) {
    this.#forward = forward;
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0;
  }

  /** The memory that the queue takes. A part of which something is left counts as a whole. */
  get bytes(): number {
    return this.#bytes;
  }

  push(part: Buffer): void {
    this.#parts.push(part);
    this.#bytes += part.length + PART_BYTES;
  }

  clear(): void {
    this.#parts.length = 0;
    this.#offset = 0;
    this.#bytes = 0;
  }

  /** Forwards frames until their price reaches the limit. Returns the price. */
  pass(limit: number): number {
    let price = 0;
    while (price < limit) {
      const part = this.#parts[0];
      if (part === undefined) break;
      const rest = this.#offset === 0 ? part : part.subarray(this.#offset);
      const length = this.#meter.take(rest, limit - price);
      price += this.#meter.price;
      if (length < rest.length) this.#offset += length;
      else this.#shift(part);
      // May close the connection, and clear this queue.
      this.#forward(length < rest.length ? rest.subarray(0, length) : rest);
    }
    return price;
  }

  #shift(first: Buffer): void {
    this.#parts.shift();
    this.#offset = 0;
    this.#bytes -= first.length + PART_BYTES;
  }
}
