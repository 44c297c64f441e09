import { timingSafeEqual } from "node:crypto";
import type { App, Secret } from "../db/state/records.ts";
import { secretDigest } from "../db/state/secret-digest.ts";
import type { AppStore } from "../db/state/stores.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";

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

/** Finds the app that has a key as an unexpired send secret; undefined for any other key. */
export type AppOfSendKey = (key: string) => Promise<App | undefined>;

/** Creates the lookup of apps by their secrets, for requests that name no app. */
export function createSendKeyLookup(deps: { readonly apps: AppStore; readonly clock: Clock }): AppOfSendKey {
  return async (key) => {
    const app = await deps.apps.findBySecret(secretDigest(key), nowSecs(deps.clock));
    return app && isSendKey(key, app.secrets) ? app : undefined;
  };
}
