import { timingSafeEqual } from "node:crypto";
import type { App, Secret } from "../db/state/records.ts";
import { secretDigest } from "../db/state/secret-digest.ts";
import type { AppStore } from "../db/state/stores.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";

/**
 * Whether a key is one of the secrets. Digests are compared, and all of them, so that the time tells neither how much
 * of a secret was guessed nor which one it was.
 *
 * @param secrets the unexpired ones
 */
export function isSendKey(key: string, secrets: readonly Secret[]): boolean {
  const given = secretDigest(key);
  let isKnown = false;
  for (const { value } of secrets) isKnown = timingSafeEqual(secretDigest(value), given) || isKnown;
  return isKnown;
}

/** The app whose unexpired send secret a key is; undefined for any other key. */
export type AppOfSendKey = (key: string) => Promise<App | undefined>;

/** Finds apps by their secrets, for requests that name no app. */
export function createSendKeyLookup(parts: { readonly apps: AppStore; readonly clock: Clock }): AppOfSendKey {
  return async (key) => {
    const app = await parts.apps.findBySecret(secretDigest(key), nowSecs(parts.clock));
    return app && isSendKey(key, app.secrets) ? app : undefined;
  };
}
