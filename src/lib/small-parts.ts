/** A larger part takes little more memory than its bytes. */
const MIN_PART_BYTES = 4096;

/**
 * Joins the last parts of a list that grows by one part at a time, where they are small: a part of one byte takes some hundred more. Joining
 * only parts that are not larger than those after them copies each byte a few times, whatever the sizes.
 */
export function joinSmallParts(parts: Uint8Array[]): void {
  for (;;) {
    const last = parts.at(-1);
    const previous = parts.at(-2);
    if (!last || !previous || last.byteLength >= MIN_PART_BYTES || previous.byteLength > last.byteLength)
      return;
    const joined = new Uint8Array(previous.byteLength + last.byteLength);
    joined.set(previous);
    joined.set(last, previous.byteLength);
    parts.splice(-2, 2, joined);
  }
}
