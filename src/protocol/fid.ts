/**
 * Represents every fid above 2^53 - 1 in a query. Such a fid is well formed and belongs to no user. Real fids start at 1, so no row
 * matches this value, and no large fid is rounded to the fid of another user. It cannot be encoded.
 */
export const UNKNOWN_FID = -1;

/** Returns the fid of a 64-bit number as a number. */
export function fidOfU64(value: bigint): number {
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? UNKNOWN_FID : Number(value);
}
