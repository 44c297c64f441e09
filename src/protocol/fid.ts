/**
 * Represents every fid above 2^53 - 1 in a query. Such an fid is well formed but belongs to no user. Real fids start at 1,
 * so no row matches this value, and no large fid is rounded to another user's. It cannot be encoded.
 */
export const UNKNOWN_FID = -1;

/** Converts a 64-bit fid to a number, or `UNKNOWN_FID`. */
export function fidOfU64(value: bigint): number {
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? UNKNOWN_FID : Number(value);
}
