import { Type } from "@sinclair/typebox";
import { type AnyElysia, Elysia } from "elysia";
import type { VerifyEnvelope } from "../../../auth/jfs.ts";
import type { StaleReason } from "../../../auth/staleness.ts";
import { jsonBodyDecoder, rawBody } from "../../../http/body.ts";
import { ApiError } from "../../../http/errors.ts";
import { exchangeOf } from "../../../http/exchange.ts";
import { operation } from "../../../http/operation.ts";
import { pausedByOperator } from "../../../http/paused.ts";
import type { TokenEvents } from "../../../push/tokens/token-events.ts";
import type { CountTokenEvent } from "../../../push/tokens/token-metrics.ts";
import { unwrapOrThrow } from "../../shared/management.ts";
import { closed } from "../../shared/schemas.ts";

const Base64Url = (description: string) => Type.String({ description: `${description}, base64url` });

const SignedEnvelope = Type.Object(
  {
    header: Base64Url('JSON `{ fid, type: "app_key", key }`'),
    payload: Base64Url("JSON `{ event, notificationDetails?: { url, token } }`"),
    signature: Base64Url("Ed25519 signature by `key` of the text `<header>.<payload>`"),
  },
  { $id: "SignedEnvelope" },
);

const Accepted = Type.Object({ success: Type.Literal(true) }, closed);

const Refused = Type.Object(
  {
    success: Type.Literal(false),
    message: Type.String({ description: "Human-readable description of the error" }),
  },
  { ...closed, $id: "TokenEventRefusal" },
);

/** Dependencies of the token webhook. */
export interface TokenWebhookDeps {
  readonly verify: VerifyEnvelope;
  readonly staleReason: StaleReason;
  /** Whether the operator has paused token events. */
  readonly isPaused: () => boolean;
  readonly events: TokenEvents;
  readonly count: CountTokenEvent;
}

/** `/frame/webhook/<app_id>`: receives reports of clients about what their users do with a mini app. */
export function tokenWebhookRoutes(deps: TokenWebhookDeps): AnyElysia {
  const { verify, staleReason, isPaused, events, count } = deps;
  const decodeEnvelope = jsonBodyDecoder(SignedEnvelope);
  // Has no hook that decodes the body, because an unknown app is reported before an invalid body.
  const { transform: _, ...hook } = operation({
    operationId: "receiveTokenEvent",
    summary: "Report an event of a user",
    description:
      "Called by client apps. Events are `miniapp_added`, `miniapp_removed`, `notifications_enabled` and " +
      "`notifications_disabled`. An envelope names neither an app nor a time, so a repeated event is applied again; " +
      "the app's allowlist and a rate limit per user (60 events an hour, including those rejected with 400) limit the effect of " +
      "repeats.",
    tags: ["Mini apps"],
    security: "signedEnvelope",
    body: SignedEnvelope,
    response: Accepted,
    errorResponse: Refused,
    errors: ["notFound", "tooManyRequests", "unavailable"],
  });
  return new Elysia({ name: "token-webhook" }).post(
    "/frame/webhook/:app_id",
    async ({ params, request }) => {
      if (isPaused()) throw pausedByOperator("token events");
      const app = unwrapOrThrow(await events.findApp(params.app_id));
      const sender = verify(decodeEnvelope(rawBody(request)), app.signerFidAllowlist);
      if (!sender.ok) {
        const { isOfIndex, reason } = sender.error;
        const stale = isOfIndex ? await staleReason() : undefined;
        if (stale !== undefined) throw new ApiError("unavailable", `the key is not known yet: ${stale}`);
        count({ outcome: "unauthorized" });
        throw new ApiError("unauthorized", reason);
      }
      unwrapOrThrow(await events.apply(app, sender.value, exchangeOf(request).requestId));
      return { success: true };
    },
    hook,
  );
}
