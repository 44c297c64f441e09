import { type Static, Type } from "@sinclair/typebox";
import type { App } from "../../../apps/app-store.ts";
import { isSendKey } from "../../../auth/send-key.ts";
import { ApiError } from "../../../http/errors.ts";
import { type CredentialsContext, captureBodyAfter, parseBody, rawBody } from "../../../http/request/body.ts";
import { SendNotificationRequest } from "../../../push/send-request.ts";
import type { SendResult, SendService } from "../../../push/send-service.ts";
import { Fid, object } from "../../dialects/fields.ts";
import type { Call } from "../../op.ts";
import { unwrapOrThrow } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { op } = topic({ tag: "Mini apps" });

export const MISSING_SEND_KEY = "missing header x-api-key: a send secret of the app";
export const SENDS_HELP = "docs/apps-and-push.md#send-a-push";

const CampaignId = Type.String({ format: "uuid" });

const Tokens = (description: string) => Type.Integer({ minimum: 0, description });

export const sendCounts = {
  campaign_id: CampaignId,
  success_count: Tokens("Tokens whose client confirmed"),
  failure_count: Tokens("Tokens that failed, rate-limited ones included"),
  not_attempted_count: Tokens("Tokens left out by a filter, or that have this notification already"),
  retryable_fids: Type.Array(Fid, { description: "Fids with a rate-limited token, ascending" }),
};

const SendNotificationResult = object(sendCounts, { $id: "SendNotificationResult" });

export const QueuedCampaign = object(
  { campaign_id: CampaignId, status: Type.Literal("queued") },
  {
    $id: "QueuedCampaign",
    description: "The campaign is stored and continues; `/frame/app/campaign` returns its progress",
  },
);

export const sendOperations = [
  op({
    id: "sendNotification",
    method: "POST",
    path: "/frame/notifications/:app_id",
    summary: "Send a notification",
    description:
      "Responds when every client has been called. With `Prefer: respond-async` it responds with 202 as soon as the campaign is " +
      "stored. In both cases the campaign runs to completion, even across a restart of the node.",
    security: "apiKey",
    body: SendNotificationRequest,
    response: { 200: SendNotificationResult, 202: QueuedCampaign },
    errors: ["notFound", "tooManyRequests"],
    // The app and the key are verified before the body is read.
    isRaw: true,
    parse: ({ push }) => captureBodyAfter((context) => appOf(push.sends, context)),
    async run({ push: { sends } }, call) {
      const app = await appOf(sends, call);
      const { campaignId, ended } = await executeSend(call, sends, app, parseBody(rawBody(call.request)));
      return ended ? presentResult(campaignId, ended) : presentQueued(campaignId);
    },
  }),
];

export function presentResult(
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

export function presentQueued(campaignId: string): Static<typeof QueuedCampaign> {
  return { campaign_id: campaignId, status: "queued" };
}

/** @throws ApiError `notFound` for an unknown app, `unauthorized` without one of its send secrets */
async function appOf(sends: SendService, { params, request }: CredentialsContext): Promise<App> {
  const app = unwrapOrThrow(await sends.findApp(params.app_id ?? ""));
  const key = request.headers.get("x-api-key") ?? "";
  if (key === "") throw new ApiError("unauthorized", `${MISSING_SEND_KEY} (${SENDS_HELP})`);
  if (!isSendKey(key, app.secrets)) {
    throw new ApiError("unauthorized", "x-api-key is not a send secret of the app");
  }
  return app;
}

/**
 * Starts a send and waits for its result. With `Prefer: respond-async`, or if the process is stopping, it responds with 202 without
 * waiting.
 *
 * @param body the body as sent
 * @returns the result, or undefined if the response does not wait for it
 * @throws ApiError if the service rejects the send
 */
export async function executeSend(
  { request, server, set }: Call,
  sends: SendService,
  app: App,
  body: unknown,
): Promise<{ readonly campaignId: string; readonly ended: SendResult | undefined }> {
  const { campaignId, result } = unwrapOrThrow(await sends.start(app, body));
  const isAsync = prefersAsync(request.headers.get("prefer"));
  if (isAsync) set.headers["preference-applied"] = "respond-async";
  // Clients may take longer to respond than the idle timeout of a connection.
  else server?.timeout(request, 0);
  const ended = isAsync ? undefined : await result;
  if (!ended) set.status = 202;
  return { campaignId, ended };
}

/** Reports whether a Prefer header contains `respond-async` (RFC 7240). */
function prefersAsync(header: string | null): boolean {
  const preferences = (header ?? "").split(",").map((preference) => preference.split(/[;=]/, 1)[0] ?? "");
  return preferences.some((name) => name.trim().toLowerCase() === "respond-async");
}
