import { type Static, Type } from "@sinclair/typebox";
import { MAX_ALLOWLIST_ENTRIES } from "../../../apps/app-service.ts";
import type { App } from "../../../apps/app-store.ts";
import { MAX_DESCRIPTION_CHARS, MAX_NAME_CHARS } from "../../../management/fields.ts";
import { presentSecret, SendSecret } from "../../shared/management.ts";
import { closed, Fid, nullable, UnixSecs } from "../../shared/schemas.ts";

/** Request bodies and the record of mini apps. */

const Name = Type.String({ minLength: 1, maxLength: MAX_NAME_CHARS, description: "Unicode characters" });
const AppUrl = Type.String({
  format: "uri",
  description:
    "The mini app's canonical URL: https, on a public host. The service never sends requests to it.",
});
const Description = nullable(Type.String({ maxLength: MAX_DESCRIPTION_CHARS }));
const Allowlist = Type.Array(Fid, {
  maxItems: MAX_ALLOWLIST_ENTRIES,
  description: "Fids of the client apps whose token events are accepted; empty for all",
});

export const CreateAppRequest = Type.Object(
  {
    name: Name,
    app_url: AppUrl,
    description: Type.Optional(Description),
    signer_fid_allowlist: Type.Optional(Allowlist),
  },
  { $id: "CreateAppRequest" },
);

export const UpdateAppRequest = Type.Object(
  {
    app_id: Type.String(),
    name: Type.Optional(Name),
    app_url: Type.Optional(AppUrl),
    description: Type.Optional(Description),
    signer_fid_allowlist: Type.Optional(Allowlist),
  },
  { $id: "UpdateAppRequest" },
);

export const RegisteredApp = Type.Object(
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
  { ...closed, $id: "RegisteredApp" },
);

export const AppResponse = Type.Object({ app: RegisteredApp }, closed);
export const AppsResponse = Type.Object({ apps: Type.Array(RegisteredApp) }, closed);

export function presentApp(app: App): Static<typeof RegisteredApp> {
  return {
    app_id: app.appId,
    owner_fid: app.ownerFid,
    name: app.name,
    app_url: app.appUrl,
    description: app.description,
    signer_fid_allowlist: [...app.signerFidAllowlist],
    send_secrets: app.secrets.map(presentSecret),
    created_at: app.createdAt,
    updated_at: app.updatedAt,
  };
}
