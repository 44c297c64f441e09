import { randomInt } from "node:crypto";

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

/** Unix seconds that a nonce counts. */
export const ONE_TIME_NONCE_SECS = 600;

const NONCE_CHARS = 22;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Creates the text of a nonce: 22 alphanumerics, 130 bits. */
export function createNonceText(): string {
  return Array.from({ length: NONCE_CHARS }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
}
