const HASH_BITS = 20;
const IDS_PER_SECOND = 2 ** HASH_BITS;

/**
 * The row id of a cast: its time in unix seconds, then the first 20 bits of its hash. Ids sort in the order of casts, so
 * the full-text index, which stores only ids, returns the newest first. When two casts of one second have the same hash
 * prefix, the later arrival gets the next free id.
 */
export function firstCastId(timestamp: number, hash: Uint8Array): number {
  const prefix = ((hash[0] ?? 0) << 12) | ((hash[1] ?? 0) << 4) | ((hash[2] ?? 0) >> 4);
  return timestamp * IDS_PER_SECOND + prefix;
}

/** The smallest id of a cast with this time in unix seconds. */
export function firstCastIdAt(timestamp: number): number {
  return timestamp * IDS_PER_SECOND;
}
