import { type Static, Type } from "@sinclair/typebox";
import { optional, text } from "../../../http/request/params.ts";
import { Name } from "../../../management/request-schema.ts";
import {
  CreateLoginClientRequest,
  LOGIN_CLIENT_FIELDS,
  NEW_LOGIN_CLIENT_FIELDS,
  UpdateLoginClientRequest,
} from "../../../signers/login/client-fields.ts";
import type { LoginClient } from "../../../signers/login/client-store.ts";
import { Fid, object, UnixSecs } from "../../dialects/fields.ts";
import { presentRecord, unwrapOrThrow } from "../../respond.ts";
import { ID_ONLY_BYTES, topic } from "../../topic.ts";
import { Deleted, idToDelete } from "../account/records.ts";

const { signed, signedRead } = topic({ tag: "Login clients", surface: "native" });

const RegisteredLoginClient = object(
  {
    client_id: Type.String({ format: "uuid" }),
    owner_fid: Fid,
    name: Name,
    origins: Type.Array(Type.String()),
    redirect_uris: Type.Array(Type.String()),
    permissions: Type.Union([Type.Literal("read"), Type.Literal("write")]),
    created_at: UnixSecs("Creation"),
    updated_at: UnixSecs("Last change"),
  },
  { $id: "LoginClient" },
);
const One = object({ login_client: RegisteredLoginClient });
const clientId = text({ description: "The client's id" });

/** Apps whose visitors sign in through the login page. */
export const loginClientOperations = [
  signed({
    id: "createLoginClient",
    method: "POST",
    path: "/login_client",
    op: "login_client.create",
    command: {
      usage: "login-client create",
      help: "register an app whose visitors sign in by the login page; prints its client id",
      fields: NEW_LOGIN_CLIENT_FIELDS,
    },
    summary: "Register a login client",
    body: CreateLoginClientRequest,
    response: One,
    errors: ["tooManyRequests"],
    run: async ({ loginClients }, { body, ...actor }) => ({
      login_client: present(unwrapOrThrow(await loginClients.create(actor, body))),
    }),
  }),
  signedRead({
    id: "getLoginClient",
    path: "/login_client",
    op: "login_client.read",
    command: { usage: "login-client get <client_id>", help: "show one login client of the fid" },
    summary: "One login client",
    query: { client_id: clientId },
    response: One,
    errors: ["forbidden", "notFound"],
    run: async ({ loginClients }, { fid, query }) => ({
      login_client: present(unwrapOrThrow(await loginClients.get(fid, query.client_id))),
    }),
  }),
  signedRead({
    id: "listLoginClients",
    path: "/login_client/list",
    op: "login_client.read",
    command: { usage: "login-client list", help: "list the login clients of the fid, oldest first" },
    summary: "All login clients of the signing fid",
    description: "Oldest first, all in one response.",
    response: object({ login_clients: Type.Array(RegisteredLoginClient) }),
    run: async ({ loginClients }, { fid }) => ({
      login_clients: (await loginClients.list(fid)).map(present),
    }),
  }),
  signed({
    id: "updateLoginClient",
    method: "PUT",
    path: "/login_client",
    op: "login_client.update",
    command: {
      usage: "login-client update <client_id>",
      help: "change the given fields of a login client",
      fields: LOGIN_CLIENT_FIELDS,
    },
    summary: "Change a login client",
    description: "Only the provided fields change; a list replaces the whole list.",
    body: UpdateLoginClientRequest,
    response: One,
    errors: ["forbidden", "notFound"],
    run: async ({ loginClients }, { body, ...actor }) => ({
      login_client: present(unwrapOrThrow(await loginClients.update(actor, body))),
    }),
  }),
  signed({
    id: "deleteLoginClient",
    method: "DELETE",
    path: "/login_client",
    op: "login_client.delete",
    maxBodyBytes: ID_ONLY_BYTES,
    command: { usage: "login-client delete <client_id>", help: "delete one login client of the fid" },
    summary: "Delete a login client",
    description: "The id may also come as `client_id` in a JSON body.",
    query: { client_id: optional(clientId) },
    response: Deleted,
    errors: ["forbidden", "notFound"],
    run: async ({ loginClients }, { query, rawBody, ...actor }) => {
      unwrapOrThrow(await loginClients.delete(actor, idToDelete("client_id", query.client_id, rawBody)));
      return { deleted: true };
    },
  }),
];

function present(client: LoginClient): Static<typeof RegisteredLoginClient> {
  return presentRecord(RegisteredLoginClient, client, {
    origins: [...client.origins],
    redirect_uris: [...client.redirectUris],
  });
}
