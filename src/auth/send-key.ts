import { timingSafeEqual } from "node:crypto";
import { type Secret, secretDigest } from "../db/state/secret.ts";

/**
 * Returns the secret that equals a key, or undefined. It compares the digests of all secrets, so that the time reveals neither how much
 * of a secret was guessed nor which one matched.
 *
 * @param secrets the unexpired secrets
 */
export function secretOf(key: string, secrets: readonly Secret[]): Secret | undefined {
  const digest = secretDigest(key);
  let found: Secret | undefined;
  for (const secret of secrets) found = timingSafeEqual(secretDigest(secret.value), digest) ? secret : found;
  return found;
}

/** Reports whether a key is one of the unexpired secrets, like `secretOf`. */
export function isSendKey(key: string, secrets: readonly Secret[]): boolean {
  return secretOf(key, secrets) !== undefined;
}
