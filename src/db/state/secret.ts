/** Authenticates the owner of an app or webhook to the other side. */
export interface Secret {
  /** UUID. */
  readonly uid: string;
  /** 32 bytes as 64 hex digits. The text itself is compared and used as the HMAC key. */
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
