const HASH_BITS = 16;
/** Maximum number of casts in one second, missing ones included. */
export const IDS_PER_SECOND = 2 ** HASH_BITS;
/**
 * Live and dropped casts have ids above this one. URLs, and missing casts that were never stored here, have ids below it.
 */
export const BELOW_ALL_CASTS = 2 ** 46;

/**
 * Ids of casts, missing casts and URLs share one number space, so a reaction's target needs no type. A cast has the id
 * described below, which is above 2^46 for every time since 2004; a cast that was never stored here has a negative id; a URL
 * has a small positive id (see `schema/messages.ts`). Ids differ between nodes and never leave the process.
 */

/**
 * Returns the first choice for the row id of a cast: its time in Unix seconds, then the first 16 bits of its hash. Ids sort
 * by time. Within one second they sort by hash only until two casts share the 16 bits: the later arrival gets another free
 * id. Lists therefore read whole seconds and sort each by the full hash.
 */
export function firstCastId(timestamp: number, hash: Uint8Array): number {
  return timestamp * IDS_PER_SECOND + ((hash[0] ?? 0) << 8) + (hash[1] ?? 0);
}

/**
 * Returns the id to try after `id`, which another cast of the same second has. The step is a part of the hash, so that few
 * tries are needed even in a second with tens of thousands of casts. It is odd, so 65,536 tries visit every id of the
 * second.
 */
export function nextCastId(id: number, hash: Uint8Array): number {
  const step = (((hash[2] ?? 0) << 8) + (hash[3] ?? 0)) | 1;
  const place = id % IDS_PER_SECOND;
  return id - place + ((place + step) % IDS_PER_SECOND);
}

/** Returns the smallest id of a cast with this time, in Unix seconds. */
export function firstCastIdAt(timestamp: number): number {
  return timestamp * IDS_PER_SECOND;
}

/** Returns the time of a live or dropped cast, in Unix seconds. */
export function timestampOfCastId(id: number): number {
  return Math.floor(id / IDS_PER_SECOND);
}
