/** A nonce is valid for one operation of one fid. */
export interface Nonce {
  readonly fid: number;
  /** 32 bytes. */
  readonly nonce: Uint8Array;
}

/** The arrival and validity of a request with a nonce, in unix seconds on the machine's clock. */
export interface NonceTimes {
  readonly nowSecs: number;
  /** The last second at which the signature is valid. */
  readonly validUntil: number;
  /** Not before `validUntil`. */
  readonly expiresAt: number;
}

/** The spent nonces. Every method is atomic, also against concurrent calls of other processes. */
export interface NonceStore {
  /** Whether the nonce is spent. A cheap check before `spend`, which is authoritative. */
  isSpent(nonce: Nonce, times: Pick<NonceTimes, "nowSecs" | "validUntil">): Promise<boolean>;
  /**
   * Spends the nonce until `expiresAt` inclusive; false when it is spent already. Exactly one of concurrent calls succeeds. A
   * spent nonce is never valid again with the same signature, however the clock jumps: after its row was deleted, every
   * request that could have used it is refused.
   */
  spend(nonce: Nonce, times: NonceTimes): Promise<boolean>;
}
