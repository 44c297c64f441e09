import { BinaryReader } from "@bufbuild/protobuf/wire";

/**
 * Maximum number of tags, lengths and integers in one response. An empty item has two, takes two bytes, and up to 160 bytes
 * of memory once decoded. A page of 1,000 messages has a few thousand, fifty busy blocks a few hundred thousand.
 */
const MAX_VARINTS = 500_000;

/** Reason given in the errors of a `BoundedReader`, without the number. */
export const TOO_MANY_FIELDS = "a response has too many fields";

/**
 * Reads a response of a followed node. A response within the size limit may have tens of millions of empty items, at any
 * depth, which would fill the memory once decoded; this reader throws a RangeError before that.
 */
export class BoundedReader extends BinaryReader {
  readonly encoded: Uint8Array;
  #left: number;

  constructor(encoded: Uint8Array, maxVarints = MAX_VARINTS) {
    super(encoded);
    this.encoded = encoded;
    this.#left = maxVarints;
    const read = this.uint32;
    this.uint32 = () => {
      this.#countOne();
      return read.call(this);
    };
  }

  /** Packed values, such as the fids of a page, have no tags. */
  override uint64(): bigint | string {
    this.#countOne();
    return super.uint64();
  }

  #countOne(): void {
    this.#left -= 1;
    if (this.#left < 0) throw new RangeError(TOO_MANY_FIELDS);
  }
}
