import { Type } from "@sinclair/typebox";
import { SCOPES } from "../http/caller.ts";
import { description, NAME, type RecordField, type RecordFields } from "../management/record-fields.ts";
import { bodySchemas, checked } from "../management/request-schema.ts";

const PER_MINUTE = {
  type: "whole",
  min: 1,
  description: "At most the operator's limit, which null stands for",
  help: "at most the operator's limit",
  nullHelp: "the operator's limit",
} as const satisfies RecordField;

/** Fields that the owner of an API key sets. */
export const API_KEY_FIELDS = {
  name: NAME,
  description: description("what it is for"),
  scopes: {
    type: "texts",
    choices: SCOPES,
    description: "What the key may be used for. None implies another.",
    help: SCOPES.join(", "),
    valueName: "<scopes>",
    isRequired: true,
  },
  app_id: {
    type: "text",
    description: "The mini app that the key sends for; null for the only one of the owner",
    help: "the mini app to send for, if the owner has several",
    nullHelp: "act for the only app of the owner",
    flag: "app",
    valueName: "<app_id>",
  },
  active: {
    type: "boolean",
    isForUpdate: true,
    help: "accept it, also after a transfer of the fid",
    offHelp: "refuse it from now on",
  },
  expires_at: {
    type: "whole",
    min: 0,
    description: "When the key stops to be valid, unix seconds; null for never",
    help: "unix seconds",
    nullHelp: "never expire",
    valueName: "<secs>",
  },
  units_per_minute: PER_MINUTE,
  writes_per_minute: PER_MINUTE,
} as const satisfies RecordFields;

/** Request bodies for owners of API keys. */
export const { create: CreateApiKeyRequest, update: UpdateApiKeyRequest } = bodySchemas("ApiKey", {
  idKey: "api_key_id",
  fields: API_KEY_FIELDS,
});

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
