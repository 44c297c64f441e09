import { type AnyElysia, Elysia } from "elysia";
import { captureBodyAfter, parseBody, rawBody } from "../../http/body.ts";
import { operation } from "../../http/operation.ts";
import { cursor, fidList, limit, optional, text } from "../../http/params.ts";
import type { SendService } from "../../push/send-service.ts";
import type { SenderView } from "../../push/sender-view.ts";
import { listToken } from "../../push/tokens/transfer/listed-token.ts";
import { cursorCodec, cutPage } from "../../read/cursor.ts";
import { executeSend } from "../native/send/execute-send.ts";
import { presentQueued, QueuedCampaign } from "../native/send/schemas.ts";
import { decodeCursor } from "../shared/cursor-param.ts";
import { appOfRequest, type PushApps } from "./push-app.ts";
import {
  CompatCampaigns,
  CompatSendRequest,
  CompatSendResult,
  CompatTokens,
  presentCampaign,
  presentSend,
} from "./push-schemas.ts";
import { withFlatFilters } from "./send-body.ts";

/** Dependencies of push in the shape of the hosted API. */
export interface CompatPushDeps extends PushApps {
  readonly sends: SendService;
  readonly senderView: SenderView;
}

const MAX_FIDS = 100;
const CAMPAIGN_PAGE = { fallback: 100, max: 1000 };
const TOKEN_PAGE = { fallback: 20, max: 100 };

const campaignCursor = cursorCodec("sender-campaigns", ["int"]);
const tokenCursor = cursorCodec("sender-tokens", ["int", "int"]);

/**
 * `/frame/notifications` and `/frame/notification_tokens` without an app id, in the shape of the hosted API. A send
 * secret, or an API key with the scope `push`, identifies the app.
 */
export function compatPushRoutes(deps: CompatPushDeps): AnyElysia {
  const { sends, senderView } = deps;
  const described = {
    tags: ["Mini apps"],
    security: "apiKey",
    access: { kind: "sendSecretOrKey", scope: "push" },
  } as const;
  const ofKey = {
    app_id: optional(text({ description: "The app, for an API key whose owner has several" })),
  };
  // Has no hook that decodes the body: the key is verified before it is read.
  const { transform: _, ...sendHook } = operation({
    ...described,
    operationId: "sendNotificationOfKey",
    summary: "Send a notification from the app of the key",
    description:
      "Same as the send with an app id. The response to a send to at most 100 tokens also contains the result of each token.",
    query: ofKey,
    body: CompatSendRequest,
    response: { 200: CompatSendResult, 202: QueuedCampaign },
    errors: ["forbidden", "tooManyRequests"],
  });

  return new Elysia({ name: "farcaster-push" })
    .post(
      "/frame/notifications",
      async (context) => {
        const { request } = context;
        const app = await appOfRequest(request, deps);
        const body = withFlatFilters(parseBody(rawBody(request)));
        const { campaignId, ended } = await executeSend(context, sends, app, body);
        return ended ? presentSend(campaignId, ended) : presentQueued(campaignId);
      },
      { ...sendHook, parse: captureBodyAfter(({ request }) => appOfRequest(request, deps)) },
    )
    .get(
      "/frame/notifications",
      async ({ request, query }) => {
        const app = await appOfRequest(request, deps);
        const [before] = decodeCursor(campaignCursor, query.cursor) ?? [];
        const found = await senderView.campaigns(app, {
          campaignId: query.campaign_id,
          before,
          max: query.limit + 1,
        });
        const page = cutPage(found, query.limit, (last) => campaignCursor.encode([last.seq]));
        return { notificationCampaigns: page.rows.map(presentCampaign), next: { cursor: page.cursor } };
      },
      operation({
        ...described,
        operationId: "listCampaignsOfKey",
        summary: "Notification campaigns of the app of the key",
        description: "Newest first. A campaign is retained for 30 days.",
        query: {
          ...ofKey,
          campaign_id: optional(text({ description: "Only this campaign" })),
          limit: limit(CAMPAIGN_PAGE.fallback, CAMPAIGN_PAGE.max),
          cursor: cursor(),
        },
        response: CompatCampaigns,
        errors: ["forbidden"],
      }),
    )
    .get(
      "/frame/notification_tokens",
      async ({ request, query }) => {
        const app = await appOfRequest(request, deps);
        const [fid, clientFid] = decodeCursor(tokenCursor, query.cursor) ?? [];
        const after = fid === undefined || clientFid === undefined ? undefined : { fid, clientFid };
        const found = await senderView.tokens(app, { fids: query.fids, after, max: query.limit + 1 });
        const page = cutPage(found, query.limit, (last) => tokenCursor.encode([last.fid, last.clientFid]));
        return { notification_tokens: page.rows.map(listToken), next: { cursor: page.cursor } };
      },
      operation({
        ...described,
        operationId: "listTokensOfKey",
        summary: "Notification tokens of the app of the key",
        description:
          "Complete tokens, so that they can be exported to another service. Ordered by fid; a user has one for each client app.",
        query: {
          ...ofKey,
          fids: optional(fidList({ maxItems: MAX_FIDS, description: "Only of these fids" })),
          limit: limit(TOKEN_PAGE.fallback, TOKEN_PAGE.max),
          cursor: cursor(),
        },
        response: CompatTokens,
        errors: ["forbidden"],
      }),
    );
}
