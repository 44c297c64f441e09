import { type Static, Type } from "@sinclair/typebox";
import { Allowlist, APP_FIELDS, CreateAppRequest, UpdateAppRequest } from "../../../apps/app-fields.ts";
import type { App } from "../../../apps/app-store.ts";
import { optional, text } from "../../../http/request/params.ts";
import { Name } from "../../../management/request-schema.ts";
import { Fid, nullable, object, UnixSecs } from "../../dialects/fields.ts";
import { presentRecord, unwrapOrThrow } from "../../respond.ts";
import { ID_ONLY_BYTES, topic } from "../../topic.ts";
import { Deleted, idToDelete, presentSecret, ROTATE_HELP, SendSecret } from "../account/records.ts";

const { signed, signedRead } = topic({ tag: "Mini apps" });

const RegisteredApp = object(
  {
    app_id: Type.String({ pattern: "^[1-9A-HJ-NP-Za-km-z]{16}$" }),
    owner_fid: Fid,
    name: Name,
    app_url: Type.String(),
    description: nullable(Type.String()),
    signer_fid_allowlist: Allowlist,
    send_secrets: Type.Array(SendSecret, { description: "Unexpired secrets, oldest first" }),
    created_at: UnixSecs("Creation"),
    updated_at: UnixSecs("Last change"),
  },
  { $id: "RegisteredApp" },
);

const AppResponse = object({ app: RegisteredApp });

const AppsResponse = object({ apps: Type.Array(RegisteredApp) });

export const appId = text({ description: "The app's id" });

export const appOperations = [
  signed({
    id: "createApp",
    method: "POST",
    path: "/frame/app",
    op: "app.create",
    command: {
      usage: "app create",
      help: "register a mini app; prints its id and send secret",
      fields: APP_FIELDS,
    },
    summary: "Register a mini app",
    description: "Assigns the app's id and its first send secret.",
    body: CreateAppRequest,
    response: AppResponse,
    errors: ["tooManyRequests"],
    run: async ({ apps }, { body, ...actor }) => ({
      app: presentApp(unwrapOrThrow(await apps.create(actor, body))),
    }),
  }),
  signedRead({
    id: "getApp",
    path: "/frame/app",
    op: "app.read",
    command: { usage: "app get <app_id>", help: "show one app of the fid, with its secrets" },
    summary: "One mini app",
    query: { app_id: appId },
    response: AppResponse,
    errors: ["forbidden", "notFound"],
    run: async ({ apps }, { fid, query }) => ({
      app: presentApp(unwrapOrThrow(await apps.get(fid, query.app_id))),
    }),
  }),
  signedRead({
    id: "listApps",
    path: "/frame/app/list",
    op: "app.read",
    command: { usage: "app list", help: "list the apps of the fid, oldest first" },
    summary: "All mini apps of the signing fid",
    description: "Oldest first, all in one response.",
    response: AppsResponse,
    run: async ({ apps }, { fid }) => ({ apps: (await apps.list(fid)).map(presentApp) }),
  }),
  signed({
    id: "updateApp",
    method: "PUT",
    path: "/frame/app",
    op: "app.update",
    command: {
      usage: "app update <app_id>",
      help: "change the given fields of a mini app",
      fields: APP_FIELDS,
    },
    summary: "Change a mini app",
    description:
      "Only the provided fields change. `description: null` clears it; an allowlist replaces the whole list.",
    body: UpdateAppRequest,
    response: AppResponse,
    errors: ["forbidden", "notFound"],
    run: async ({ apps }, { body, ...actor }) => ({
      app: presentApp(unwrapOrThrow(await apps.update(actor, body))),
    }),
  }),
  signed({
    id: "deleteApp",
    method: "DELETE",
    path: "/frame/app",
    op: "app.delete",
    maxBodyBytes: ID_ONLY_BYTES,
    command: { usage: "app delete <app_id>", help: "delete one app of the fid" },
    summary: "Delete a mini app",
    description: "The id may also come as `app_id` in a JSON body.",
    query: { app_id: optional(appId) },
    response: Deleted,
    errors: ["forbidden", "notFound"],
    run: async ({ apps }, { query, rawBody, ...actor }) => {
      unwrapOrThrow(await apps.delete(actor, idToDelete("app_id", query.app_id, rawBody)));
      return { deleted: true };
    },
  }),
  signed({
    id: "rotateAppSecret",
    method: "POST",
    path: "/frame/app/secret/rotate",
    op: "app.rotate_secret",
    maxBodyBytes: ID_ONLY_BYTES,
    command: { usage: "app rotate <app_id>", help: ROTATE_HELP },
    summary: "Rotate the send secret of a mini app",
    description: "Adds a secret. Earlier secrets remain valid until the end of their grace period.",
    query: { app_id: appId },
    response: AppResponse,
    errors: ["forbidden", "notFound", "tooManyRequests"],
    run: async ({ apps }, { query, ...actor }) => ({
      app: presentApp(unwrapOrThrow(await apps.rotateSecret(actor, query.app_id))),
    }),
  }),
];

function presentApp(app: App): Static<typeof RegisteredApp> {
  return presentRecord(RegisteredApp, app, {
    signer_fid_allowlist: [...app.signerFidAllowlist],
    send_secrets: app.secrets.map(presentSecret),
  });
}
