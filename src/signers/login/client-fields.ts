import { NAME, type RecordFields } from "../../management/record-fields.ts";
import { bodySchemas } from "../../management/request-schema.ts";

/** Fields that the owner of a login client sets. */
export const LOGIN_CLIENT_FIELDS = {
  name: NAME,
  origins: {
    type: "texts",
    maxItems: 20,
    description: "The origins of the app's pages, such as `https://app.example`: only they get a result",
    help: "origins of the app's pages, such as https://app.example",
    valueName: "<origins>",
    isRequired: true,
  },
  redirect_uris: {
    type: "texts",
    min: 0,
    maxItems: 20,
    description: "URLs to which a code or a deep link may lead",
    help: "URLs to which a code or a deep link may lead",
    valueName: "<urls>",
  },
  permissions: {
    type: "text",
    max: 5,
    description: "`read`: who the user is; `write`: also a managed signer of the owner",
    help: "read or write",
    isRequired: true,
  },
} as const satisfies RecordFields;

/** Fields of a new login client. An app may keep the client id that it already uses. */
export const NEW_LOGIN_CLIENT_FIELDS = {
  ...LOGIN_CLIENT_FIELDS,
  client_id: {
    type: "text",
    min: 36,
    max: 36,
    description: "A UUID that the app has already. Default: a new one",
    help: "a UUID that the app has already",
    valueName: "<uuid>",
  },
} as const satisfies RecordFields;

const idKey = "client_id";

/** Request bodies for owners of login clients. */
export const { create: CreateLoginClientRequest } = bodySchemas("LoginClient", {
  idKey,
  fields: NEW_LOGIN_CLIENT_FIELDS,
});
export const { update: UpdateLoginClientRequest } = bodySchemas("LoginClient", {
  idKey,
  fields: LOGIN_CLIENT_FIELDS,
});
