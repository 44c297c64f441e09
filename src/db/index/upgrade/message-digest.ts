import { hash } from "node:crypto";

const LANES = 8;

/**
 * A digest of a set of messages that does not depend on their order: the sum of their SHA-256 hashes, in eight lanes of 32
 * bits. Two sets have one digest only if they are equal, unless the messages were chosen to collide.
 */
export class MessageDigest {
  readonly #lanes = new Uint32Array(LANES);
  #count = 0;

  /** Continues a digest from its text. */
  static parse(text: string): MessageDigest {
    const digest = new MessageDigest();
    const [count = "0", lanes = ""] = text.split(":");
    digest.#count = Number(count);
    digest.#lanes.set(new Uint32Array(Uint8Array.fromHex(lanes.padStart(LANES * 8, "0")).buffer));
    return digest;
  }

  add(message: Uint8Array): void {
    const sum = hash("sha256", message, "buffer");
    for (let lane = 0; lane < LANES; lane++)
      this.#lanes[lane] = (this.#lanes[lane] ?? 0) + sum.readUInt32LE(4 * lane);
    this.#count++;
  }

  /** The number of messages and the sum. */
  toString(): string {
    return `${this.#count}:${new Uint8Array(this.#lanes.buffer).toHex()}`;
  }
}
