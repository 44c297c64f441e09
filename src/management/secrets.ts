import type { Secret } from "../db/state/secret.ts";

const SECRET_BYTES = 32;

/** Creates a secret: 32 random bytes as 64 hex digits. */
export function createSecret(nowSecs: number): Secret {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return {
    uid: crypto.randomUUID(),
    value: Buffer.from(bytes).toString("hex"),
    createdAt: nowSecs,
    expiresAt: null,
  };
}
