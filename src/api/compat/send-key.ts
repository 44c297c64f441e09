import type { AppOfSendKey } from "../../apps/app-of-send-key.ts";
import type { App } from "../../apps/app-store.ts";
import { ApiError } from "../../http/errors.ts";

/** Headers that clients of the hosted API send their key in; older clients use the second. */
const KEY_HEADERS = ["x-api-key", "api_key"] as const;

/**
 * Returns the app whose send secret is in the request's headers.
 *
 * @throws ApiError `unauthorized`
 */
export async function appOfRequest({ headers }: Request, appOfKey: AppOfSendKey): Promise<App> {
  const key = KEY_HEADERS.map((name) => headers.get(name) ?? "").find((value) => value !== "");
  if (key === undefined) throw new ApiError("unauthorized", "missing header x-api-key");
  const app = await appOfKey(key);
  if (!app) throw new ApiError("unauthorized", "x-api-key is no send secret of an app");
  return app;
}
