import {
  API_KEY_FIELDS,
  CreateApiKeyRequest,
  RotateApiKeyRequest,
  UpdateApiKeyRequest,
} from "../../../api-keys/api-key-fields.ts";
import { optional, text } from "../../../http/request/params.ts";
import { nowSecs } from "../../../runtime/clock.ts";
import { unwrapOrThrow } from "../../respond.ts";
import { ID_ONLY_BYTES, topic } from "../../topic.ts";
import {
  ApiKeyChangedResponse,
  ApiKeyDeletedResponse,
  ApiKeyResponse,
  ApiKeysResponse,
  ApiKeyUsageResponse,
  ApiKeyWithSecretResponse,
  MAX_USAGE_DAYS,
  presentApiKey,
  presentUsage,
  usageDays,
} from "./api-key-responses.ts";
import { idToDelete } from "./records.ts";

const { signed, signedRead } = topic({ tag: "API keys", surface: "native" });

export const apiKeyId = text({ description: "The key's id" });

const usageDay = text({ description: "UTC day, as in 2026-11-22" });

export const apiKeyOperations = [
  signed({
    id: "createApiKey",
    method: "POST",
    path: "/api_key",
    op: "api_key.create",
    command: {
      usage: "api-key create",
      help: "create an API key; prints its text, which is shown once",
      fields: API_KEY_FIELDS,
    },
    summary: "Create an API key",
    description: "The response alone contains the text of the key; only its digest is stored.",
    body: CreateApiKeyRequest,
    response: ApiKeyWithSecretResponse,
    errors: ["tooManyRequests"],
    run: async ({ apiKeys }, { body, ...actor }) => {
      const { key, text: secret } = unwrapOrThrow(await apiKeys.create(actor, body));
      return { api_key: await presentApiKey(key, apiKeys), secret };
    },
  }),
  signedRead({
    id: "getApiKey",
    path: "/api_key",
    op: "api_key.read",
    command: { usage: "api-key get <api_key_id>", help: "show one API key of the fid" },
    summary: "One API key",
    query: { api_key_id: apiKeyId },
    response: ApiKeyResponse,
    errors: ["forbidden", "notFound"],
    run: async ({ apiKeys }, { fid, query }) => ({
      api_key: await presentApiKey(unwrapOrThrow(await apiKeys.get(fid, query.api_key_id)), apiKeys),
    }),
  }),
  signedRead({
    id: "listApiKeys",
    path: "/api_key/list",
    op: "api_key.read",
    command: { usage: "api-key list", help: "list the API keys of the fid, oldest first" },
    summary: "All API keys of the signing fid",
    description: "Oldest first, all in one response.",
    response: ApiKeysResponse,
    run: async ({ apiKeys }, { fid }) => ({
      api_keys: await Promise.all((await apiKeys.list(fid)).map((key) => presentApiKey(key, apiKeys))),
    }),
  }),
  signedRead({
    id: "getApiKeyUsage",
    path: "/api_key/usage",
    op: "api_key.read",
    command: {
      usage: "api-key usage <api_key_id>",
      help: "show what an API key was used for, by UTC day and route",
      flags: {
        from: {
          type: "text",
          valueName: "<day>",
          help: "first day, as in 2026-11-22 (default: the last day)",
        },
        to: { type: "text", valueName: "<day>", help: "last day (default: today)" },
      },
    },
    summary: "What an API key was used for",
    description: `By UTC day and route, at most ${MAX_USAGE_DAYS} days, by default today. Counts arrive within ten seconds, and are kept for 400 days.`,
    query: { api_key_id: apiKeyId, from: optional(usageDay), to: optional(usageDay) },
    response: ApiKeyUsageResponse,
    errors: ["forbidden", "notFound"],
    run: async ({ auth, apiKeys }, { fid, query }) => {
      const days = usageDays(query, nowSecs(auth.clock));
      return presentUsage(unwrapOrThrow(await apiKeys.usage(fid, query.api_key_id, days)));
    },
  }),
  signed({
    id: "updateApiKey",
    method: "PUT",
    path: "/api_key",
    op: "api_key.update",
    command: {
      usage: "api-key update <api_key_id>",
      help: "change the given fields of an API key",
      fields: API_KEY_FIELDS,
    },
    summary: "Change an API key",
    description:
      "Only the provided fields change. `active: true` also activates a key that stopped with a transfer of the fid.",
    body: UpdateApiKeyRequest,
    response: ApiKeyChangedResponse,
    errors: ["forbidden", "notFound"],
    run: async ({ apiKeys }, { body, ...actor }) => {
      const { key, isInEffect } = unwrapOrThrow(await apiKeys.update(actor, body));
      return { api_key: await presentApiKey(key, apiKeys), ...inEffect(isInEffect) };
    },
  }),
  signed({
    id: "deleteApiKey",
    method: "DELETE",
    path: "/api_key",
    op: "api_key.delete",
    maxBodyBytes: ID_ONLY_BYTES,
    command: { usage: "api-key delete <api_key_id>", help: "delete one API key of the fid" },
    summary: "Delete an API key",
    description:
      "Every request with the key that begins after the response is refused, at every node. The id may also come as `api_key_id` in a JSON body.",
    query: { api_key_id: optional(apiKeyId) },
    response: ApiKeyDeletedResponse,
    errors: ["forbidden", "notFound"],
    run: async ({ apiKeys }, { query, rawBody, ...actor }) => {
      const id = idToDelete("api_key_id", query.api_key_id, rawBody);
      const { isInEffect } = unwrapOrThrow(await apiKeys.delete(actor, id));
      return { deleted: true, ...inEffect(isInEffect) };
    },
  }),
  signed({
    id: "rotateApiKeySecret",
    method: "POST",
    path: "/api_key/secret/rotate",
    op: "api_key.rotate_secret",
    maxBodyBytes: ID_ONLY_BYTES,
    command: {
      usage: "api-key rotate <api_key_id>",
      help: "add a new secret, which is shown once; the present ones still work for the grace period",
      flags: { grace_secs: { type: "whole", help: "seconds for which they still work; 0: not at all" } },
    },
    summary: "Rotate the secret of an API key",
    description:
      "Adds a secret, which the response alone contains. Earlier secrets remain valid for `grace_secs`, by default the operator's " +
      "grace period; with 0 they end at once.",
    body: RotateApiKeyRequest,
    response: ApiKeyWithSecretResponse,
    errors: ["forbidden", "notFound", "tooManyRequests"],
    run: async ({ apiKeys }, { body, ...actor }) => {
      const { key, text: secret, isInEffect } = unwrapOrThrow(await apiKeys.rotateSecret(actor, body));
      return { api_key: await presentApiKey(key, apiKeys), secret, ...inEffect(isInEffect) };
    },
  }),
];

/** States that a change is not in effect on all nodes yet; otherwise nothing. */
function inEffect(isInEffect: boolean): { readonly in_effect?: false } {
  return isInEffect ? {} : { in_effect: false };
}
