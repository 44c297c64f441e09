import { createHash } from "node:crypto";

/**
 * SHA-256 of a secret's text. Secrets are looked up and compared by it, so that timing reveals nothing about the text.
 */
export function secretDigest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
