/** What a nonce is issued for: it counts for nothing else. */
export type NoncePurpose = "login";

export interface OneTimeNonce {
  readonly nonce: string;
  readonly purpose: NoncePurpose;
}

/** Nonces that a node has issued and that count once, on whichever node. */
export interface OneTimeNonceStore {
  issue(nonce: OneTimeNonce, expiresAt: number): Promise<void>;
  /** Takes a nonce. True for exactly one of concurrent calls, and never after its time. */
  take(nonce: OneTimeNonce, nowSecs: number): Promise<boolean>;
}
