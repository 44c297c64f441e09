import { type Static, Type } from "@sinclair/typebox";
import { type AnyElysia, Elysia } from "elysia";
import { isSendKey } from "../../auth/send-key.ts";
import { parseJson, rawBody } from "../../http/body.ts";
import { ApiError } from "../../http/errors.ts";
import { operation } from "../../http/operation.ts";
import { MAX_BODY_CHARS, MAX_TARGET_URL_CHARS, MAX_TITLE_CHARS } from "../../notify/send-request.ts";
import type { SendResult, SendService } from "../../notify/send-service.ts";
import { accepted, closed, Fid, nullable } from "../management.ts";

const Characters = (max: number, description: string) =>
  Type.String({ minLength: 1, maxLength: max, description });

const SendNotificationRequest = Type.Object(
  {
    notification: Type.Object({
      title: Characters(MAX_TITLE_CHARS, "Unicode characters"),
      body: Characters(MAX_BODY_CHARS, "Unicode characters"),
      target_url: Characters(MAX_TARGET_URL_CHARS, "https, on the host of the app's `app_url`"),
      uuid: Type.Optional(
        nullable(
          Type.String({
            description:
              "Any UUID. Nobody gets the same one of an app twice within 24 hours, so a send may be repeated with it.",
          }),
        ),
      ),
    }),
    target_fids: Type.Optional(
      Type.Array(Fid, { description: "Recipients; empty or absent for everybody with an enabled token" }),
    ),
    exclude_fids: Type.Optional(Type.Array(Fid, { description: "Fids that do not get it" })),
    following_fid: Type.Optional(
      nullable(Type.Integer({ format: "int64", minimum: 0, description: "Only its followers get it" })),
    ),
    minimum_user_score: Type.Optional(nullable(Type.Number({ description: "Read, not enforced" }))),
    near_location: Type.Optional(Type.Unknown({ description: "Read, not enforced" })),
  },
  { $id: "SendNotificationRequest" },
);

const CampaignId = Type.String({ format: "uuid" });
const Count = (description: string) => Type.Integer({ minimum: 0, description });

const SendNotificationResult = Type.Object(
  {
    campaign_id: CampaignId,
    success_count: Count("Tokens whose client confirmed"),
    failure_count: Count("Tokens that failed, rate-limited ones included"),
    not_attempted_count: Count("Tokens left out by a filter, or that have this notification already"),
    retryable_fids: Type.Array(Fid, { description: "Fids with a rate-limited token, ascending" }),
  },
  { ...closed, $id: "SendNotificationResult" },
);

const QueuedCampaign = Type.Object(
  { campaign_id: CampaignId, status: Type.Literal("queued") },
  {
    ...closed,
    $id: "QueuedCampaign",
    description: "The campaign is stored and runs on; `/frame/app/campaign` tells how it goes",
  },
);

/** `/frame/notifications/<app_id>`: sends a notification to users of a mini app. */
export function sendRoutes(sends: SendService): AnyElysia {
  // Without the hook that decodes the body: app and key are judged before it.
  const { transform: _, ...hook } = operation({
    operationId: "sendNotification",
    summary: "Send a notification",
    description:
      "Answers when every client was asked. With `Prefer: respond-async` it answers 202 as soon as the campaign is " +
      "stored. Either way the campaign runs to its end, also over a restart of the node.",
    tags: ["Mini apps"],
    security: "apiKey",
    body: SendNotificationRequest,
    response: { 200: SendNotificationResult, 202: QueuedCampaign },
    errors: ["notFound", "tooManyRequests"],
  });

  return new Elysia({ name: "send" }).post(
    "/frame/notifications/:app_id",
    async ({ params, request, server, set }) => {
      const app = accepted(await sends.findApp(params.app_id));
      const key = request.headers.get("x-api-key") ?? "";
      if (key === "") throw new ApiError("unauthorized", "missing header x-api-key");
      if (!isSendKey(key, app.secrets)) {
        throw new ApiError("unauthorized", "x-api-key is no send secret of the app");
      }
      const { campaignId, result } = accepted(await sends.start(app, parseJson(rawBody(request))));
      const isAsync = prefersAsync(request.headers.get("prefer"));
      if (isAsync) set.headers["preference-applied"] = "respond-async";
      // Clients may take longer to answer than an idle connection may live.
      else server?.timeout(request, 0);
      const ended = isAsync ? undefined : await result;
      if (ended) return presentResult(campaignId, ended);
      set.status = 202;
      return { campaign_id: campaignId, status: "queued" };
    },
    hook,
  );
}

function presentResult(
  campaignId: string,
  { counts, retryableFids }: SendResult,
): Static<typeof SendNotificationResult> {
  return {
    campaign_id: campaignId,
    success_count: counts.success,
    failure_count: counts.failure,
    not_attempted_count: counts.notAttempted,
    retryable_fids: [...retryableFids],
  };
}

/** Whether `respond-async` is among the preferences of a Prefer header (RFC 7240). */
function prefersAsync(header: string | null): boolean {
  const preferences = (header ?? "").split(",").map((preference) => preference.split(/[;=]/, 1)[0] ?? "");
  return preferences.some((name) => name.trim().toLowerCase() === "respond-async");
}
