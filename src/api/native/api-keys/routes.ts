import type { AnyElysia } from "elysia";
import {
  CreateApiKeyRequest,
  RotateApiKeyRequest,
  UpdateApiKeyRequest,
} from "../../../api-keys/api-key-requests.ts";
import type { ApiKeyService } from "../../../api-keys/api-key-service.ts";
import type { ApiKey } from "../../../api-keys/api-key-store.ts";
import { createSignedRoutes } from "../../../auth/signed-routes.ts";
import type { AuthDeps } from "../../../auth/verify.ts";
import { optional, text } from "../../../http/params.ts";
import { nowSecs } from "../../../runtime/clock.ts";
import { idToDelete, unwrapOrThrow } from "../../shared/management.ts";
import {
  ApiKeyChangedResponse,
  ApiKeyDeletedResponse,
  ApiKeyResponse,
  ApiKeysResponse,
  ApiKeyWithSecretResponse,
  presentApiKey,
} from "./schemas.ts";
import { ApiKeyUsageResponse, MAX_USAGE_DAYS, presentUsage, usageDays } from "./usage.ts";

/** `/api_key`: API keys for the compat dialect, for their owner. No key may manage keys. */
export function apiKeyRoutes(deps: { readonly auth: AuthDeps; readonly apiKeys: ApiKeyService }): AnyElysia {
  const { auth, apiKeys } = deps;
  const routes = createSignedRoutes(auth, { name: "api-keys", tag: "API keys" });
  const apiKeyId = text({ description: "The key's id" });
  const usageDay = text({ description: "UTC day, as in 2026-11-22" });
  const present = (key: ApiKey) => presentApiKey(key, apiKeys);

  routes.add(
    "createApiKey",
    {
      summary: "Create an API key",
      description: "The response alone contains the text of the key; only its digest is stored.",
      body: CreateApiKeyRequest,
      response: ApiKeyWithSecretResponse,
      errors: ["tooManyRequests"],
    },
    async ({ body, ...actor }) => {
      const { key, text: secret } = unwrapOrThrow(await apiKeys.create(actor, body));
      return { api_key: present(key), secret };
    },
  );

  routes.add(
    "getApiKey",
    {
      summary: "One API key",
      query: { api_key_id: apiKeyId },
      response: ApiKeyResponse,
      errors: ["forbidden", "notFound"],
    },
    async ({ fid, query }) => ({ api_key: present(unwrapOrThrow(await apiKeys.get(fid, query.api_key_id))) }),
  );

  routes.add(
    "listApiKeys",
    {
      summary: "All API keys of the signing fid",
      description: "Oldest first, all in one response.",
      response: ApiKeysResponse,
    },
    async ({ fid }) => ({ api_keys: (await apiKeys.list(fid)).map(present) }),
  );

  routes.add(
    "getApiKeyUsage",
    {
      summary: "What an API key was used for",
      description: `By UTC day and route, at most ${MAX_USAGE_DAYS} days, by default today. Counts arrive within ten seconds, and are kept for 400 days.`,
      query: { api_key_id: apiKeyId, from: optional(usageDay), to: optional(usageDay) },
      response: ApiKeyUsageResponse,
      errors: ["forbidden", "notFound"],
    },
    async ({ fid, query }) => {
      const days = usageDays(query, nowSecs(auth.clock));
      return presentUsage(unwrapOrThrow(await apiKeys.usage(fid, query.api_key_id, days)));
    },
  );

  routes.add(
    "updateApiKey",
    {
      summary: "Change an API key",
      description:
        "Only the provided fields change. `active: true` also activates a key that stopped with a transfer of the fid.",
      body: UpdateApiKeyRequest,
      response: ApiKeyChangedResponse,
      errors: ["forbidden", "notFound"],
    },
    async ({ body, ...actor }) => {
      const { key, isInEffect } = unwrapOrThrow(await apiKeys.update(actor, body));
      return { api_key: present(key), ...inEffect(isInEffect) };
    },
  );

  routes.add(
    "deleteApiKey",
    {
      summary: "Delete an API key",
      description:
        "Every request with the key that begins after the response is refused, at every node. The id may also come as `api_key_id` in a JSON body.",
      query: { api_key_id: optional(apiKeyId) },
      response: ApiKeyDeletedResponse,
      errors: ["forbidden", "notFound"],
    },
    async ({ query, rawBody, ...actor }) => {
      const id = idToDelete("api_key_id", query.api_key_id, rawBody);
      const { isInEffect } = unwrapOrThrow(await apiKeys.delete(actor, id));
      return { deleted: true, ...inEffect(isInEffect) };
    },
  );

  routes.add(
    "rotateApiKeySecret",
    {
      summary: "Rotate the secret of an API key",
      description:
        "Adds a secret, which the response alone contains. Earlier secrets remain valid for `grace_secs`, by default the operator's " +
        "grace period; with 0 they end at once.",
      body: RotateApiKeyRequest,
      response: ApiKeyWithSecretResponse,
      errors: ["forbidden", "notFound", "tooManyRequests"],
    },
    async ({ body, ...actor }) => {
      const { key, text: secret, isInEffect } = unwrapOrThrow(await apiKeys.rotateSecret(actor, body));
      return { api_key: present(key), secret, ...inEffect(isInEffect) };
    },
  );

  return routes.plugin;
}

/** Says that a change is not in effect at all nodes; nothing otherwise. */
function inEffect(isInEffect: boolean): { readonly in_effect?: false } {
  return isInEffect ? {} : { in_effect: false };
}
