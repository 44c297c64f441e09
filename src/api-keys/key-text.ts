import { createHash } from "node:crypto";
import type { Secret } from "../db/state/secret.ts";
import { encodeBase58, randomBase58 } from "../lib/base58.ts";

const PREFIX_CHARS = 8;
const SECRET_BYTES = 32;
const SECRET_CHARS = 44;

/** Creates the visible part of a key's text: the name of the service and eight random base58 digits. */
export function createKeyPrefix(serviceName: string): string {
  return `${serviceName}_${randomBase58(PREFIX_CHARS)}`;
}

/** Creates the text of a key: its prefix and 32 random bytes. */
export function createKeyText(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `${prefix}_${encodeBase58(bytes).padStart(SECRET_CHARS, "1")}`;
}

/**
 * Reports whether a header value is meant as a key of this service, valid or not. A damaged key counts too, so that it is refused instead
 * of being treated as no key.
 */
export function isMeantAsKey(text: string, serviceName: string): boolean {
  return text.startsWith(`${serviceName}_`);
}

/** Returns the SHA-256 of a key's text in hex, the only form in which it is stored. */
export function keyDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Returns the secret of a key in its stored form. */
export function keySecret(text: string, nowSecs: number): Secret {
  return { uid: crypto.randomUUID(), value: keyDigest(text), createdAt: nowSecs, expiresAt: null };
}
