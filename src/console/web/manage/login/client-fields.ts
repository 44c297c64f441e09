import type { BodyOf, Schemas } from "../../data/call.ts";
import {
  changesOf,
  type Draft,
  draftOf,
  type FieldSpec,
  type Problems,
  problemsOf,
  type Values,
  valuesOf,
} from "../../parts/fields.ts";
import * as msg from "../../text/en/manage/login.ts";

export type LoginClient = Schemas["LoginClient"];
export type Permissions = LoginClient["permissions"];

/** What an app may know or do, with the meaning. */
export const PERMISSIONS: readonly (readonly [value: Permissions, meaning: string])[] = [
  ["read", msg.whoSignedIn],
  ["write", msg.alsoASignerOfYours],
];

/** The fields of a login client that its owner enters. */
export const LOGIN_FIELDS = [
  { name: "name", label: msg.name, isRequired: true, maxChars: 128, hint: msg.visitorsSeeIt },
  {
    name: "origins",
    label: msg.origins,
    kind: "texts",
    isRequired: true,
    rows: 2,
    placeholder: "https://app.example",
    hint: msg.whereYourButtonIs,
  },
  {
    name: "redirect_uris",
    label: msg.redirectUris,
    kind: "texts",
    rows: 2,
    hint: msg.urlsThatACodeMayLeadTo,
  },
] as const satisfies readonly FieldSpec[];

/** These fields, plus the id that an app may already have. */
export const NEW_LOGIN_FIELDS = [
  ...LOGIN_FIELDS,
  { name: "client_id", label: msg.clientId, hint: msg.theIdOfYourButton },
] as const satisfies readonly FieldSpec[];

type Fields = typeof LOGIN_FIELDS;
type NewFields = typeof NEW_LOGIN_FIELDS;
export interface Chosen {
  readonly permissions: Permissions;
}
export type LoginDraft = Draft<Fields> & Chosen;
export type NewLoginDraft = Draft<NewFields> & Chosen;
type LoginValues = Values<Fields> & Chosen;

export const emptyLoginDraft: NewLoginDraft = { ...draftOf(NEW_LOGIN_FIELDS), permissions: "read" };
export const draftOfClient = (client: LoginClient): LoginDraft => ({
  ...draftOf(LOGIN_FIELDS, client),
  permissions: client.permissions,
});

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1):\d+$/;

/**
 * Reports whether a text is an origin as browsers send it: https or, on this machine, http with a port. The node decides which it
 * accepts.
 */
const isOrigin = (text: string) =>
  URL.parse(text)?.origin === text && (text.startsWith("https://") || LOOPBACK.test(text));

export function loginProblems(draft: LoginDraft | NewLoginDraft): Problems<NewFields> {
  const problems: Problems<NewFields> = problemsOf(LOGIN_FIELDS, draft);
  const { origins } = valuesOf(LOGIN_FIELDS, draft);
  const wrong = origins.length === 0 ? draft.origins : origins.find((origin) => !isOrigin(origin));
  const id = "client_id" in draft ? draft.client_id.trim() : "";
  return {
    ...(wrong !== undefined && { origins: msg.isNotAnOrigin(wrong.slice(0, 60)) }),
    ...problems,
    ...(id !== "" && !UUID.test(id) && { client_id: msg.aClientIdIsAUuid }),
  };
}

export const newLoginValues = (draft: NewLoginDraft) => ({
  ...valuesOf(NEW_LOGIN_FIELDS, draft),
  permissions: draft.permissions,
  client_id: draft.client_id.trim() === "" ? null : draft.client_id.trim(),
});

const loginValues = (draft: LoginDraft): LoginValues => ({
  ...valuesOf(LOGIN_FIELDS, draft),
  permissions: draft.permissions,
});

export type LoginChanges = Omit<BodyOf<"PUT /login_client">, "client_id">;

/** The fields that the owner changed in the form of a client. */
export const loginChanges = (client: LoginClient, draft: LoginDraft) =>
  changesOf(loginValues(draftOfClient(client)), loginValues(draft));
