import { keyTextOf } from "../../../api-keys/gate.ts";
import type { App } from "../../../apps/app-store.ts";
import { type ApiKeyCaller, invalidKey } from "../../../http/caller.ts";
import { ApiError } from "../../../http/errors.ts";
import { callerOf } from "../../../http/exchange.ts";
import { captureBodyAfter, parseBody, rawBody } from "../../../http/request/body.ts";
import { cursor, fidList, limit, optional, text } from "../../../http/request/params.ts";
import { parseQueryString } from "../../../http/request/query-string.ts";
import { ownValue, readObject } from "../../../management/fields.ts";
import { audienceFilters } from "../../../push/send-request.ts";
import { listToken } from "../../../push/tokens/transfer/token-file.ts";
import { cursorCodec, cutPage } from "../../../read/cursor.ts";
import type { PushApps } from "../../deps.ts";
import { decodeCursor, unwrapOrThrow } from "../../respond.ts";
import { topic } from "../../topic.ts";
import {
  CompatCampaigns,
  CompatSendRequest,
  CompatSendResult,
  CompatTokens,
  presentCompatCampaign,
  presentSend,
} from "./push-by-key-responses.ts";
import { executeSend, MISSING_SEND_KEY, presentQueued, QueuedCampaign, SENDS_HELP } from "./send.ts";

const { op } = topic({ tag: "Mini apps", surface: "compat" });

const MAX_FIDS = 100;

const CAMPAIGN_PAGE = { fallback: 100, max: 1000 };

const TOKEN_PAGE = { fallback: 20, max: 100 };

/** A send secret, or an API key with the scope `push`, identifies the app of these operations. */
const OF_KEY = {
  security: "apiKey",
  access: { kind: "sendSecretOrKey", scope: "push" },
} as const;
const APP_ID = optional(text({ description: "The app, for an API key whose owner has several" }));

const campaignCursor = cursorCodec("sender-campaigns", ["int"]);
const tokenCursor = cursorCodec("sender-tokens", ["int", "int"]);

export const pushByKeyOperations = [
  op({
    ...OF_KEY,
    id: "sendNotificationOfKey",
    method: "POST",
    path: "/frame/notifications",
    summary: "Send a notification from the app of the key",
    description:
      "Same as the send with an app id. The response to a send to at most 100 tokens also contains the result of each token.",
    query: { app_id: APP_ID },
    body: CompatSendRequest,
    response: { 200: CompatSendResult, 202: QueuedCampaign },
    errors: ["forbidden", "tooManyRequests"],
    // The key is verified before the body is read.
    isRaw: true,
    parse: ({ push }) => captureBodyAfter(({ request }) => appOfRequest(request, push)),
    async run({ push }, call) {
      const app = await appOfRequest(call.request, push);
      const body = withFlatFilters(parseBody(rawBody(call.request)));
      const { campaignId, ended } = await executeSend(call, push.sends, app, body);
      return ended ? presentSend(campaignId, ended) : presentQueued(campaignId);
    },
  }),
  op({
    ...OF_KEY,
    id: "listCampaignsOfKey",
    path: "/frame/notifications",
    summary: "Notification campaigns of the app of the key",
    description: "Newest first. A campaign is retained for 30 days.",
    query: {
      app_id: APP_ID,
      campaign_id: optional(text({ description: "Only this campaign" })),
      limit: limit(CAMPAIGN_PAGE.fallback, CAMPAIGN_PAGE.max),
      cursor: cursor(),
    },
    response: CompatCampaigns,
    errors: ["forbidden"],
    run: async ({ push }, { request, query }) => {
      const app = await appOfRequest(request, push);
      const [before] = decodeCursor(campaignCursor, query.cursor) ?? [];
      const found = await push.senderView.campaigns(app, {
        campaignId: query.campaign_id,
        before,
        max: query.limit + 1,
      });
      const page = cutPage(found, query.limit, (last) => campaignCursor.encode([last.seq]));
      return { notificationCampaigns: page.rows.map(presentCompatCampaign), next: { cursor: page.cursor } };
    },
  }),
  op({
    ...OF_KEY,
    id: "listTokensOfKey",
    path: "/frame/notification_tokens",
    summary: "Notification tokens of the app of the key",
    description:
      "Complete tokens, so that they can be exported to another service. Ordered by fid; a user has one for each client app.",
    query: {
      app_id: APP_ID,
      fids: optional(fidList({ maxItems: MAX_FIDS, description: "Only of these fids" })),
      limit: limit(TOKEN_PAGE.fallback, TOKEN_PAGE.max),
      cursor: cursor(),
    },
    response: CompatTokens,
    errors: ["forbidden"],
    run: async ({ push }, { request, query }) => {
      const app = await appOfRequest(request, push);
      const [fid, clientFid] = decodeCursor(tokenCursor, query.cursor) ?? [];
      const after = fid === undefined || clientFid === undefined ? undefined : { fid, clientFid };
      const found = await push.senderView.tokens(app, { fids: query.fids, after, max: query.limit + 1 });
      const page = cutPage(found, query.limit, (last) => tokenCursor.encode([last.fid, last.clientFid]));
      return { notification_tokens: page.rows.map(listToken), next: { cursor: page.cursor } };
    },
  }),
];

/**
 * Returns the app of the request's send secret or API key.
 *
 * @throws ApiError `unauthorized` for a key that is neither, `badRequest` for an API key that does not specify which of several apps
 */
async function appOfRequest(request: Request, apps: PushApps): Promise<App> {
  const caller = callerOf(request);
  if (caller.kind === "apiKey") return appOfCaller(request, caller, apps);
  const key = keyTextOf(request.headers);
  if (key === "") throw invalidKey(`${MISSING_SEND_KEY}, or an API key of its owner (${SENDS_HELP})`);
  const app = await apps.appOfKey(key);
  if (!app) throw invalidKey("x-api-key is not a send secret of an app");
  return app;
}

/** Returns the app in the query, or else that of the key, or else the only one of the owner. */
async function appOfCaller(
  { url }: Request,
  { ownerFid, appId: ofKey }: ApiKeyCaller,
  { appsOf }: PushApps,
): Promise<App> {
  const [named] = parseQueryString(url).app_id ?? [];
  if (named !== undefined && ofKey !== null && named !== ofKey) {
    throw new ApiError("forbidden", "app_id must be the app of the key");
  }
  const owned = await appsOf(ownerFid);
  const wanted = named ?? ofKey;
  const app = wanted === null && owned.length === 1 ? owned[0] : owned.find(({ appId }) => appId === wanted);
  if (app) return app;
  if (wanted !== null) throw new ApiError("forbidden", "app_id must be an app of the key's owner");
  throw new ApiError(
    "badRequest",
    owned.length === 0
      ? "the key's owner has no app: register one first"
      : "the key's owner has several apps: name one as query parameter app_id",
  );
}

/**
 * Moves the fields of `filters` into the body of a send, where the service reads them. A body that is not an object is returned
 * unchanged, and the service rejects it.
 *
 * @throws ApiError `badRequest`
 */
function withFlatFilters(body: unknown): unknown {
  const request = readObject(body, "request body");
  if (!request.ok) return body;
  const filters = unwrapOrThrow(readObject(ownValue(request.value, "filters") ?? {}, "filters"));
  const flat: Record<string, unknown> = { ...request.value };
  for (const name of Object.keys(audienceFilters)) {
    const value = ownValue(filters, name);
    if (value === undefined) continue;
    if (Object.hasOwn(request.value, name)) {
      throw new ApiError("badRequest", `${name} stands both in the body and in filters`);
    }
    flat[name] = value;
  }
  return flat;
}
