import { type Static, Type } from "@sinclair/typebox";
import { Allowlist } from "../../../apps/app-requests.ts";
import type { App } from "../../../apps/app-store.ts";
import { Name } from "../../../management/request-schema.ts";
import { presentSecret, SendSecret } from "../../shared/management.ts";
import { closed, Fid, nullable, UnixSecs } from "../../shared/schemas.ts";

/** The record of mini apps. */

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
