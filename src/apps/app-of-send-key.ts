import { isSendKey } from "../auth/send-key.ts";
import { secretDigest } from "../db/state/secret-digest.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { App, AppStore } from "./app-store.ts";

/** Finds the app that has a key as an unexpired send secret; undefined for any other key. */
export type AppOfSendKey = (key: string) => Promise<App | undefined>;

/** Creates the lookup of apps by their secrets, for requests that name no app. */
export function createSendKeyLookup(deps: { readonly apps: AppStore; readonly clock: Clock }): AppOfSendKey {
  return async (key) => {
    const app = await deps.apps.findBySecret(secretDigest(key), nowSecs(deps.clock));
    return app && isSendKey(key, app.secrets) ? app : undefined;
  };
}
