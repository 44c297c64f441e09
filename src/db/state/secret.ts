import { createHash } from "node:crypto";

/**
 * Returns the SHA-256 of a secret's text. Secrets are looked up and compared by it, so that timing reveals nothing about the
 * text.
 */
export function secretDigest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** A secret that authenticates the owner of an app or webhook to the other side, or the digest of an API key. */
export interface Secret {
  /** UUID. */
  readonly uid: string;
  /**
   * 32 bytes as 64 hex digits. The text itself is compared and used as the HMAC key. For an API key it is the SHA-256 of the
   * key.
   */
  readonly value: string;
  readonly createdAt: number;
  /** The first second at which it is invalid; null while it is the current one. */
  readonly expiresAt: number | null;
}

export interface Rotation {
  readonly secret: Secret;
  readonly graceEndsAt: number;
  readonly maxSecrets: number;
}

/** Expired secrets stay stored until the clock is trusted. A holder may store this multiple of its limit of live secrets. */
export const STORED_PER_LIVE = 10;
