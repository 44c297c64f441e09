import { BinaryReader } from "@bufbuild/protobuf/wire";

/** A hundred times the requested page size, for a node that ignores it. */
const MAX_ITEMS_PER_RESPONSE = 100_000;

/**
 * Returns the bytes of a response if it has few enough top-level fields. A response within the size limit may have tens of
 * millions of empty items, which would fill the memory once decoded.
 *
 * @throws RangeError if it has more.
 */
export function withinItemLimit(bytes: Uint8Array, maxItems = MAX_ITEMS_PER_RESPONSE): Uint8Array {
  const reader = new BinaryReader(bytes);
  for (let items = 0; reader.pos < reader.len; items++) {
    if (items === maxItems) throw new RangeError(`a response has more than ${maxItems} items`);
    const [field, wireType] = reader.tag();
    reader.skip(wireType, field);
  }
  return bytes;
}
