import { createHash } from "node:crypto";
import type { Secret } from "../db/state/secret.ts";
import { encodeBase58, randomBase58 } from "../lib/base58.ts";

const PREFIX_CHARS = 8;
const SECRET_BYTES = 32;
const SECRET_CHARS = 44;

/** Creates the part of a key's text that is shown: the name of the service and eight digits of base58. */
export function createKeyPrefix(serviceName: string): string {
  return `${serviceName}_${randomBase58(PREFIX_CHARS)}`;
}

/** Creates the text of a key: its prefix and 32 random bytes. */
export function createKeyText(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `${prefix}_${encodeBase58(bytes).padStart(SECRET_CHARS, "1")}`;
}

/**
 * Whether a text of a header is meant as a key of this service, valid or not. A key that was damaged on its way is one, too, so that it
 * is refused rather than taken for none.
 */
export function isMeantAsKey(text: string, serviceName: string): boolean {
  return text.startsWith(`${serviceName}_`);
}

/** SHA-256 of a key's text in hex: all that is stored of it. */
export function keyDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The secret of a key as it is stored. */
export function keySecret(text: string, nowSecs: number): Secret {
  return { uid: crypto.randomUUID(), value: keyDigest(text), createdAt: nowSecs, expiresAt: null };
}
