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
