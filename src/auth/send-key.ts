import { createHash, timingSafeEqual } from "node:crypto";
import type { Secret } from "../state/records.ts";

/**
 * Whether a key is one of the secrets. Digests are compared, and all of them, so that the time tells neither how much
 * of a secret was guessed nor which one it was.
 *
 * @param secrets the unexpired ones
 */
export function isSendKey(key: string, secrets: readonly Secret[]): boolean {
  const given = digest(key);
  let isKnown = false;
  for (const { value } of secrets) isKnown = timingSafeEqual(digest(value), given) || isKnown;
  return isKnown;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
