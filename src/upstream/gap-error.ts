/**
 * Blocks that the upstream no longer serves, or serves incompletely. The fids that they concern must be read again.
 */
export class GapError extends Error {
  override name = "GapError";

  constructor(
    readonly shard: number,
    /** First and last missing block. */
    readonly from: number,
    readonly to: number,
  ) {
    super(`shard ${shard}: blocks ${from} to ${to} are not available`);
  }
}
