import { type Static, Type } from "@sinclair/typebox";
import type { Secret } from "../../../db/state/secret.ts";
import { ApiError } from "../../../http/errors.ts";
import { parseBody } from "../../../http/request/body.ts";
import { ownValue, readObject } from "../../../management/fields.ts";
import { standardSecret } from "../../../webhooks/deliver/sign.ts";
import { nullable, object, UnixSecs } from "../../dialects/fields.ts";
import { presentRecord, unwrapOrThrow } from "../../respond.ts";

/**
 * Returns the id of the record to delete. Clients send it in the query or in a JSON body; if both contain it, they must be equal.
 *
 * @throws ApiError `badRequest`
 */
export function idToDelete(key: string, inQuery: string | undefined, rawBody: Uint8Array): string {
  const body = rawBody.byteLength === 0 ? {} : unwrapOrThrow(readObject(parseBody(rawBody), "request body"));
  const inBody = ownValue(body, key);
  if (inBody !== undefined && typeof inBody !== "string") {
    throw new ApiError("badRequest", `${key} must be a string`);
  }
  const id = inQuery ?? inBody;
  if (id === undefined || id === "") throw new ApiError("badRequest", `missing query parameter ${key}`);
  if (inBody !== undefined && inBody !== id) {
    throw new ApiError("badRequest", `${key} differs between query and body`);
  }
  return id;
}

/** For `--help` of the commands that rotate a secret. */
export const ROTATE_HELP = "add a new secret; the present ones still work for the grace period";

export const SendSecret = object(
  {
    uid: Type.String({ format: "uuid" }),
    value: nullable(Type.String({ pattern: "^[0-9a-f]{64}$", description: "Null in responses to sessions" })),
    standard_secret: nullable(
      Type.String({
        pattern: "^whsec_[A-Za-z0-9+/]{86}==$",
        description: "The same secret in the format of Standard Webhooks libraries",
      }),
    ),
    expires_at: nullable(UnixSecs("When the secret expires after a rotation")),
    created_at: UnixSecs("Creation"),
  },
  { $id: "SendSecret" },
);

export const Deleted = object({ deleted: Type.Literal(true) });

export function presentSecret(secret: Secret): Static<typeof SendSecret> {
  return presentRecord(SendSecret, secret, { standard_secret: standardSecret(secret.value) });
}
