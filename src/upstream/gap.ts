/** Blocks that the followed node no longer gives, or gives short: what they did has to be read from its state. */
export class GapError extends Error {
  override name = "GapError";

  constructor(
    readonly shard: number,
    /** First and last block that is missing. */
    readonly from: number,
    readonly to: number,
  ) {
    super(`shard ${shard}: blocks ${from} to ${to} cannot be had`);
  }
}
