import { type Static, Type } from "@sinclair/typebox";
import type { ApiKeyService } from "../../../api-keys/api-key-service.ts";
import type { ApiKey } from "../../../api-keys/api-key-store.ts";
import { SCOPES, type Scope } from "../../../http/caller.ts";
import { closed, Fid, nullable, UnixSecs } from "../../shared/schemas.ts";

const KeySecret = Type.Object(
  {
    uid: Type.String({ format: "uuid" }),
    created_at: UnixSecs("Creation"),
    expires_at: nullable(UnixSecs("When the secret expires after a rotation")),
  },
  closed,
);

const ApiKeySchema = Type.Object(
  {
    object: Type.Literal("api_key"),
    api_key_id: Type.String({ pattern: "^[1-9A-HJ-NP-Za-km-z]{16}$" }),
    owner_fid: Fid,
    name: Type.String(),
    prefix: Type.String({ description: "The part of the key's text that is shown" }),
    scopes: Type.Array(Type.Unsafe<Scope>({ type: "string", enum: [...SCOPES] })),
    app_id: nullable(Type.String()),
    active: Type.Boolean(),
    inactive_reason: nullable(
      Type.String({
        description:
          "`deactivated`, or `custody changed`: the fid has a new custody address since, which may activate the key again",
      }),
    ),
    units_per_minute: Type.Integer({ minimum: 0 }),
    writes_per_minute: Type.Integer({ minimum: 0 }),
    created_at: UnixSecs("Creation"),
    updated_at: UnixSecs("Last change"),
    expires_at: nullable(UnixSecs("When the key stops to be valid")),
    last_used_at: nullable(UnixSecs("Last use; may lag a minute")),
    secrets: Type.Array(KeySecret, { description: "Unexpired ones, oldest first, without their texts" }),
  },
  { ...closed, $id: "ApiKey" },
);

const in_effect = Type.Optional(
  Type.Literal(false, {
    description:
      "Present when a node has not confirmed the change within ten seconds. It refuses what it knew of keys as soon as it learns of the " +
      "change, or when its lease of eight seconds has ended.",
  }),
);
export const ApiKeyResponse = Type.Object({ api_key: ApiKeySchema }, closed);
export const ApiKeyChangedResponse = Type.Object({ api_key: ApiKeySchema, in_effect }, closed);
export const ApiKeyDeletedResponse = Type.Object({ deleted: Type.Literal(true), in_effect }, closed);
export const ApiKeysResponse = Type.Object({ api_keys: Type.Array(ApiKeySchema) }, closed);
export const ApiKeyWithSecretResponse = Type.Object(
  {
    api_key: ApiKeySchema,
    in_effect,
    secret: Type.String({ description: "The text of the key. This response alone contains it." }),
  },
  closed,
);

/** Shows a key with its state of now. */
export function presentApiKey(
  key: ApiKey,
  { inactiveReason, limits }: Pick<ApiKeyService, "inactiveReason" | "limits">,
): Static<typeof ApiKeySchema> {
  const reason = inactiveReason(key);
  return {
    object: "api_key",
    api_key_id: key.apiKeyId,
    owner_fid: key.ownerFid,
    name: key.name,
    prefix: key.prefix,
    scopes: [...key.scopes],
    app_id: key.appId,
    active: reason === null,
    inactive_reason: reason,
    units_per_minute: Math.min(key.unitsPerMinute ?? limits.unitsPerMinute, limits.unitsPerMinute),
    writes_per_minute: Math.min(key.writesPerMinute ?? limits.writesPerMinute, limits.writesPerMinute),
    created_at: key.createdAt,
    updated_at: key.updatedAt,
    expires_at: key.expiresAt,
    last_used_at: key.lastUsedAt,
    secrets: key.secrets.map(({ uid, createdAt, expiresAt }) => ({
      uid,
      created_at: createdAt,
      expires_at: expiresAt,
    })),
  };
}
