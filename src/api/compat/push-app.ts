import { keyTextOf } from "../../api-keys/gate.ts";
import type { AppOfSendKey } from "../../apps/app-of-send-key.ts";
import type { App } from "../../apps/app-store.ts";
import { type ApiKeyCaller, invalidKey } from "../../http/caller.ts";
import { ApiError } from "../../http/errors.ts";
import { callerOf } from "../../http/exchange.ts";
import { parseQueryString } from "../../http/query-string.ts";

/** Finds the app that a request to send for may act for. */
export interface PushApps {
  readonly appOfKey: AppOfSendKey;
  /** All apps of an owner. */
  readonly appsOf: (ownerFid: number) => Promise<readonly App[]>;
}

/**
 * Returns the app of the request's send secret or API key.
 *
 * @throws ApiError `unauthorized` for a key that is neither, `badRequest` for an API key that does not say which of several apps
 */
export async function appOfRequest(request: Request, apps: PushApps): Promise<App> {
  const caller = callerOf(request);
  if (caller.kind === "apiKey") return appOfCaller(request, caller, apps);
  const key = keyTextOf(request.headers);
  if (key === "") throw invalidKey("missing header x-api-key");
  const app = await apps.appOfKey(key);
  if (!app) throw invalidKey("x-api-key is no send secret of an app");
  return app;
}

/** The app that the query names, else that of the key, else the only one of the owner. */
async function appOfCaller(
  { url }: Request,
  { ownerFid, appId: ofKey }: ApiKeyCaller,
  { appsOf }: PushApps,
): Promise<App> {
  const [named] = parseQueryString(url).app_id ?? [];
  if (named !== undefined && ofKey !== null && named !== ofKey) {
    throw new ApiError("forbidden", "app_id must be the app of the key");
  }
  const owned = await appsOf(ownerFid);
  const wanted = named ?? ofKey;
  const app = wanted === null && owned.length === 1 ? owned[0] : owned.find(({ appId }) => appId === wanted);
  if (app) return app;
  if (wanted !== null) throw new ApiError("forbidden", "app_id must be an app of the key's owner");
  throw new ApiError(
    "badRequest",
    owned.length === 0
      ? "the key's owner has no app: register one first"
      : "the key's owner has several apps: name one as query parameter app_id",
  );
}
