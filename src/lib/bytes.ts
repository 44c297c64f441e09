/** A list of byte strings in one buffer, so that it can be sent to another thread in one step. */
export interface ByteList {
  readonly count: number;
  /** Each item follows its length, an unsigned 32-bit integer in little-endian order. */
  readonly bytes: Uint8Array;
}

const LENGTH_BYTES = 4;

/** Packs items into a new buffer, which can be transferred. */
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

/** From this size on, the overhead of a part is small compared to its bytes. */
const MIN_PART_BYTES = 4096;

/**
 * Joins small parts at the end of a list that grows by one part at a time: a part of one byte takes over a hundred bytes of memory. Only
 * parts that are not larger than those after them are joined, so each byte is copied only a few times, whatever the sizes.
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
