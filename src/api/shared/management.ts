import { Type } from "@sinclair/typebox";
import type { ApiKeyService } from "../../api-keys/api-key-service.ts";
import type { AppService } from "../../apps/app-service.ts";
import type { AuthDeps } from "../../auth/verify.ts";
import type { Secret } from "../../db/state/secret.ts";
import { parseBody } from "../../http/body.ts";
import { ApiError } from "../../http/errors.ts";
import type { Result } from "../../lib/result.ts";
import { ownValue, readObject } from "../../management/fields.ts";
import type { Refusal } from "../../management/refusal.ts";
import type { SessionService } from "../../sessions/session-service.ts";
import type { SenderSettings } from "../../webhooks/deliver/sent-headers.ts";
import { standardSecret } from "../../webhooks/deliver/sign.ts";
import type { DeliveryService } from "../../webhooks/delivery-service.ts";
import type { WebhookService } from "../../webhooks/webhook-service.ts";
import { closed, nullable, UnixSecs } from "./schemas.ts";

/** Dependencies of the signed management routes. */
export interface ManagementDeps {
  readonly auth: AuthDeps;
  readonly apps: AppService;
  readonly apiKeys: ApiKeyService;
  readonly sessions: SessionService;
  readonly webhooks: WebhookService;
  readonly deliveries: DeliveryService;
  readonly delivery: DeliverySettings;
  /** How deliveries introduce themselves. */
  readonly sender: SenderSettings;
}

/** Settings of the deliveries of every webhook; shown in its record. */
export interface DeliverySettings {
  readonly timeoutSecs: number;
  readonly rateLimit: number;
  readonly rateLimitSecs: number;
}

/** @throws ApiError of the refusal's kind. */
export function unwrapOrThrow<T>(result: Result<T, Refusal>): T {
  if (result.ok) return result.value;
  const { kind, message, ...options } = result.error;
  throw new ApiError(kind, message, options);
}

/**
 * Returns the id of the record to delete. Clients send it in the query or in a JSON body; if both contain it, they
 * must be equal.
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

export const SendSecret = Type.Object(
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
  { ...closed, $id: "SendSecret" },
);

export const Deleted = Type.Object({ deleted: Type.Literal(true) }, closed);

export function presentSecret(secret: Secret) {
  return {
    uid: secret.uid,
    value: secret.value,
    standard_secret: standardSecret(secret.value),
    expires_at: secret.expiresAt,
    created_at: secret.createdAt,
  };
}
