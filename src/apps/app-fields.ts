import type { TUnsafe } from "@sinclair/typebox";
import { description, NAME, type RecordFields } from "../management/record-fields.ts";
import { bodySchemas, schemaOf } from "../management/request-schema.ts";

/** The fields that the owner of a mini app sets. */
export const APP_FIELDS = {
  name: NAME,
  app_url: {
    type: "url",
    description:
      "The mini app's canonical URL: https, on a public host. The service never sends requests to it.",
    help: "canonical https URL of the mini app",
    isRequired: true,
  },
  description: description("what it is"),
  signer_fid_allowlist: {
    type: "fids",
    maxItems: 1024,
    description: "Fids of the client apps whose token events are accepted; empty for all",
    help: 'fids of the client apps whose events are accepted; "" for all',
  },
} as const satisfies RecordFields;

export const Allowlist = schemaOf(APP_FIELDS.signer_fid_allowlist) as TUnsafe<number[]>;

/** Bodies of the requests of a mini app's owner. */
export const { create: CreateAppRequest, update: UpdateAppRequest } = bodySchemas("App", {
  idKey: "app_id",
  fields: APP_FIELDS,
});
