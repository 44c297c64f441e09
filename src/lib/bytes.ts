/** A list of byte strings in one buffer, so that it is sent to another thread in one step. */
export interface ByteList {
  readonly count: number;
  /** Each item after its length, which is an unsigned 32-bit integer in little-endian order. */
  readonly bytes: Uint8Array;
}

const LENGTH_BYTES = 4;

/** Packs items into a buffer of their own, which can be transferred. */
export function packBytes(items: readonly Uint8Array[]): ByteList {
  let total = 0;
  for (const { length } of items) total += LENGTH_BYTES + length;
  const bytes = new Uint8Array(total);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const item of items) {
    view.setUint32(at, item.length, true);
    bytes.set(item, at + LENGTH_BYTES);
    at += LENGTH_BYTES + item.length;
  }
  return { count: items.length, bytes };
}

/** Returns the items as views of the list's buffer. */
export function unpackBytes({ count, bytes }: ByteList): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const items: Uint8Array[] = [];
  for (let at = 0; items.length < count; ) {
    const start = at + LENGTH_BYTES;
    at = start + view.getUint32(at, true);
    items.push(bytes.subarray(start, at));
  }
  return items;
}

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
