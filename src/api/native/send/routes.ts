import { type AnyElysia, Elysia } from "elysia";
import { isSendKey } from "../../../auth/send-key.ts";
import { type CredentialsContext, captureBodyAfter, parseBody, rawBody } from "../../../http/body.ts";
import { ApiError } from "../../../http/errors.ts";
import { operation } from "../../../http/operation.ts";
import { SendNotificationRequest } from "../../../push/send-request.ts";
import type { SendService } from "../../../push/send-service.ts";
import { unwrapOrThrow } from "../../shared/management.ts";
import { executeSend } from "./execute-send.ts";
import { presentQueued, presentResult, QueuedCampaign, SendNotificationResult } from "./schemas.ts";

/** `/frame/notifications/<app_id>`: sends a notification to users of a mini app. */
export function sendRoutes(sends: SendService): AnyElysia {
  // Has no hook that decodes the body: app and key are verified before it is read.
  const { transform: _, ...hook } = operation({
    operationId: "sendNotification",
    summary: "Send a notification",
    description:
      "Responds when every client has been called. With `Prefer: respond-async` it responds with 202 as soon as the campaign is " +
      "stored. In both cases the campaign runs to completion, even across a restart of the node.",
    tags: ["Mini apps"],
    security: "apiKey",
    body: SendNotificationRequest,
    response: { 200: SendNotificationResult, 202: QueuedCampaign },
    errors: ["notFound", "tooManyRequests"],
  });

  const appOf = async ({ params, request }: CredentialsContext) => {
    const app = unwrapOrThrow(await sends.findApp(params.app_id ?? ""));
    const key = request.headers.get("x-api-key") ?? "";
    if (key === "") throw new ApiError("unauthorized", "missing header x-api-key");
    if (!isSendKey(key, app.secrets)) {
      throw new ApiError("unauthorized", "x-api-key is no send secret of the app");
    }
    return app;
  };

  return new Elysia({ name: "send" }).post(
    "/frame/notifications/:app_id",
    async (context) => {
      const { params, request } = context;
      const app = await appOf({ params, request });
      const { campaignId, ended } = await executeSend(context, sends, app, parseBody(rawBody(request)));
      return ended ? presentResult(campaignId, ended) : presentQueued(campaignId);
    },
    { ...hook, parse: captureBodyAfter(appOf) },
  );
}
