import { timingSafeEqual } from "node:crypto";
import type { Secret } from "../db/state/secret.ts";
import { secretDigest } from "../db/state/secret-digest.ts";

/**
 * Reports whether a key is one of the secrets. It compares the digests of all secrets, so that the time reveals
 * neither how much of a secret was guessed nor which secret matched.
 *
 * @param secrets the unexpired secrets
 */
export function isSendKey(key: string, secrets: readonly Secret[]): boolean {
  const digest = secretDigest(key);
  let isKnown = false;
  for (const { value } of secrets) isKnown = timingSafeEqual(secretDigest(value), digest) || isKnown;
  return isKnown;
}
