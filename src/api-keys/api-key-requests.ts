import { Type } from "@sinclair/typebox";
import { SCOPES, type Scope } from "../http/caller.ts";
import { checked, Name } from "../management/request-schema.ts";

/** Bodies of the requests of an API key's owner. */

const Scopes = checked<Scope[]>(
  {
    type: "array",
    items: { type: "string", enum: [...SCOPES] },
    minItems: 1,
    uniqueItems: true,
    description: "What the key may be used for. None implies another.",
  },
  (value) => {
    const isKnown = (scope: unknown) => SCOPES.some((known) => known === scope);
    if (!Array.isArray(value) || value.length === 0 || !value.every(isKnown)) {
      return `must be a list of at least one of ${SCOPES.join(", ")}`;
    }
    return new Set(value).size === value.length ? undefined : "must not name a scope twice";
  },
);

const AppId = checked<string | null>(
  {
    anyOf: [{ type: "string" }, { type: "null" }],
    description: "The mini app that the key sends for; null for the only one of the owner",
  },
  (value) => (value === null || typeof value === "string" ? undefined : "must be a string or null"),
);

const wholeOrNull = (min: number, description: string) =>
  checked<number | null>(
    { anyOf: [{ type: "integer", minimum: min }, { type: "null" }], description },
    (value) =>
      value === null || (Number.isSafeInteger(value) && Number(value) >= min)
        ? undefined
        : `must be a whole number of at least ${min}, or null`,
  );

const ExpiresAt = wholeOrNull(0, "When the key stops to be valid, unix seconds; null for never");
const UnitsPerMinute = wholeOrNull(1, "At most the operator's limit, which null stands for");
const WritesPerMinute = wholeOrNull(1, "At most the operator's limit, which null stands for");

export const CreateApiKeyRequest = Type.Object(
  {
    name: Name,
    scopes: Scopes,
    app_id: Type.Optional(AppId),
    expires_at: Type.Optional(ExpiresAt),
    units_per_minute: Type.Optional(UnitsPerMinute),
    writes_per_minute: Type.Optional(WritesPerMinute),
  },
  { $id: "CreateApiKeyRequest" },
);

export const UpdateApiKeyRequest = Type.Object(
  {
    api_key_id: Type.String(),
    name: Type.Optional(Name),
    scopes: Type.Optional(Scopes),
    app_id: Type.Optional(AppId),
    active: Type.Optional(
      checked<boolean>({ type: "boolean" }, (value) =>
        typeof value === "boolean" ? undefined : "must be true or false",
      ),
    ),
    expires_at: Type.Optional(ExpiresAt),
    units_per_minute: Type.Optional(UnitsPerMinute),
    writes_per_minute: Type.Optional(WritesPerMinute),
  },
  { $id: "UpdateApiKeyRequest" },
);

export const RotateApiKeyRequest = Type.Object(
  {
    api_key_id: Type.String(),
    grace_secs: Type.Optional(
      checked<number>(
        { type: "integer", minimum: 0, description: "How long earlier secrets live on; 0: not at all" },
        (value) =>
          Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : "must be a whole number of seconds",
      ),
    ),
  },
  { $id: "RotateApiKeySecretRequest" },
);
