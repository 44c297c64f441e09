import { Type } from "@sinclair/typebox";
import { ApiError, pausedByOperator } from "../../../http/errors.ts";
import { exchangeOf } from "../../../http/exchange.ts";
import { jsonBodyDecoder, rawBody } from "../../../http/request/body.ts";
import { object } from "../../dialects/fields.ts";
import { unwrapOrThrow } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { op } = topic({ tag: "Mini apps" });

const Base64Url = (description: string) => Type.String({ description: `${description}, base64url` });

const SignedEnvelope = Type.Object(
  {
    header: Base64Url('JSON `{ fid, type: "app_key", key }`'),
    payload: Base64Url("JSON `{ event, notificationDetails?: { url, token } }`"),
    signature: Base64Url("Ed25519 signature by `key` of the text `<header>.<payload>`"),
  },
  { $id: "SignedEnvelope" },
);

const Accepted = object({ success: Type.Literal(true) });

const Refused = object(
  {
    success: Type.Literal(false),
    message: Type.String({ description: "Human-readable description of the error" }),
  },
  { $id: "TokenEventRefusal" },
);

const decodeEnvelope = jsonBodyDecoder(SignedEnvelope);

export const tokenWebhookOperations = [
  op({
    id: "receiveTokenEvent",
    method: "POST",
    path: "/frame/webhook/:app_id",
    summary: "Report an event of a user",
    description:
      "Called by client apps. Events are `miniapp_added`, `miniapp_removed`, `notifications_enabled` and " +
      "`notifications_disabled`. An envelope names neither an app nor a time, so a repeated event is applied again; " +
      "the app's allowlist and a rate limit per user (60 events an hour, including those rejected with 400) limit the effect of " +
      "repeats.",
    security: "signedEnvelope",
    body: SignedEnvelope,
    response: Accepted,
    errorResponse: Refused,
    errors: ["notFound", "tooManyRequests", "unavailable"],
    // An unknown app is reported before an invalid body.
    isRaw: true,
    async run({ push: { tokenWebhook } }, { params, request }) {
      const { verify, staleReason, isPaused, events, count } = tokenWebhook;
      if (isPaused()) throw pausedByOperator("token events");
      const app = unwrapOrThrow(await events.findApp(params.app_id ?? ""));
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
  }),
];
