import { Type } from "@sinclair/typebox";
import { Description, FidNumber, Name, Url } from "../management/request-schema.ts";

/** Bodies of the requests of a mini app's owner. */

const MAX_ALLOWLIST_ENTRIES = 1024;

const AppUrl = Url(
  "The mini app's canonical URL: https, on a public host. The service never sends requests to it.",
);
export const Allowlist = Type.Array(FidNumber, {
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
