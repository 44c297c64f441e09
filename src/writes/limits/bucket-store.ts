/** Tokens that are taken from one bucket. */
export interface BucketCharge {
  readonly name: string;
  readonly tokens: number;
  readonly burst: number;
  readonly msPerToken: number;
}

/** A bucket after a charge. */
export interface BucketState {
  /** Whole tokens that are left. */
  readonly left: number;
  readonly fullInMs: number;
  /** When the charge would be admitted; 0 if this bucket has enough. */
  readonly retryInMs: number;
}

/** Token buckets that are exact over all nodes. They start full. */
export interface BucketStore {
  /**
   * Takes the tokens of all charges in one transaction, or none if one bucket has too few. A charge for more than the bucket holds
   * waits until the bucket is full, and leaves it that much longer empty.
   *
   * @param charges of different buckets
   * @returns the buckets in the order of the charges
   */
  take(charges: readonly BucketCharge[]): Promise<readonly BucketState[]>;
}

/** What charges do to buckets. */
export interface Taken {
  readonly states: readonly BucketState[];
  /** When each bucket is full again, whole unix ms; undefined if nothing is taken. */
  readonly fullAtMs: readonly number[] | undefined;
}

/** Decides charges. `fullAtMs` are the buckets before them; 0 for one that has no row. */
export function decideCharges(
  charges: readonly BucketCharge[],
  fullAtMs: readonly number[],
  nowMs: number,
): Taken {
  const planned = charges.map((charge, at) => {
    const { tokens, burst, msPerToken } = charge;
    const before = Math.max(fullAtMs[at] ?? 0, nowMs);
    const missingMs = before - nowMs + (Math.min(tokens, burst) - burst) * msPerToken;
    // Stored times are whole milliseconds, so many small charges add up to a little more than their tokens.
    const retryInMs = missingMs > Math.min(burst, msPerToken / 2) ? Math.ceil(missingMs) : 0;
    return { charge, before, after: Math.ceil(before + tokens * msPerToken), retryInMs };
  });
  const isTaken = planned.every(({ retryInMs }) => retryInMs === 0);
  const states = planned.map(({ charge: { burst, msPerToken }, before, after, retryInMs }) => {
    const fullInMs = (isTaken ? after : before) - nowMs;
    return { left: Math.max(0, Math.round(burst - fullInMs / msPerToken)), fullInMs, retryInMs };
  });
  return { states, fullAtMs: isTaken ? planned.map(({ after }) => after) : undefined };
}
