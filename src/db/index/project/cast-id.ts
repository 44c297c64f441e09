const HASH_BITS = 20;
const IDS_PER_SECOND = 2 ** HASH_BITS;

/**
 * The row id of a cast: its time in unix seconds, then the first 20 bits of its hash. So ids run in the order of casts,
 * and the full-text index, which knows nothing but ids, finds the newest first. Of two casts of one second whose
 * hashes begin alike the later to arrive takes the next free id.
 */
export function firstCastId(timestamp: number, hash: Uint8Array): number {
  const prefix = ((hash[0] ?? 0) << 12) | ((hash[1] ?? 0) << 4) | ((hash[2] ?? 0) >> 4);
  return timestamp * IDS_PER_SECOND + prefix;
}

/** The least id that a cast of this time (unix seconds) can have. */
export function firstCastIdAt(timestamp: number): number {
  return timestamp * IDS_PER_SECOND;
}
