import type { AnyElysia } from "elysia";
import type { Reads } from "../read/answers.ts";
import { appCampaignRoutes } from "./apps/campaign-routes.ts";
import { appRoutes } from "./apps/routes.ts";
import { appTokenRoutes } from "./apps/token-routes.ts";
import { batchRoutes } from "./batch/routes.ts";
import { blockRoutes } from "./blocks/routes.ts";
import { castListRoutes } from "./casts/list-routes.ts";
import { castPlaceholderRoutes } from "./casts/placeholder-routes.ts";
import { castRoutes } from "./casts/routes.ts";
import { channelMemberRoutes } from "./channels/member-routes.ts";
import { channelRoutes } from "./channels/routes.ts";
import { feedRoutes } from "./feeds/routes.ts";
import { userFeedRoutes } from "./feeds/user-routes.ts";
import { followRoutes } from "./follows/routes.ts";
import type { ManagementParts } from "./management.ts";
import { notificationRoutes } from "./notifications/routes.ts";
import type { PushParts } from "./push.ts";
import { reactionRoutes } from "./reactions/routes.ts";
import { sendRoutes } from "./send/routes.ts";
import { signerRoutes } from "./signers/routes.ts";
import { storageRoutes } from "./storage/routes.ts";
import { alwaysEmptyRoutes } from "./tables/always-empty.ts";
import { notImplementedRoutes } from "./tables/not-implemented.ts";
import { tokenWebhookRoutes } from "./token-webhook/routes.ts";
import { usernameRoutes } from "./usernames/routes.ts";
import { userListRoutes } from "./users/list-routes.ts";
import { userRoutes } from "./users/routes.ts";
import { webhookRoutes } from "./webhooks/routes.ts";

/** What the routes work with, by the part of the API. */
export interface ApiParts {
  readonly reads: Reads;
  readonly management: ManagementParts;
  readonly push: PushParts;
}

/** Every route of the API, with paths within `/v2/<service>`. */
export function apiPlugins({ reads, management, push }: ApiParts): AnyElysia[] {
  return [
    userRoutes(reads),
    userListRoutes(reads),
    followRoutes(reads),
    castRoutes(reads),
    castListRoutes(reads),
    castPlaceholderRoutes(),
    feedRoutes(reads),
    userFeedRoutes(reads),
    reactionRoutes(reads),
    signerRoutes(reads),
    storageRoutes(reads),
    blockRoutes(reads),
    usernameRoutes(reads),
    batchRoutes(reads),
    channelRoutes(reads),
    channelMemberRoutes(reads),
    notificationRoutes(reads),
    appRoutes(management),
    appTokenRoutes(push),
    appCampaignRoutes(push),
    sendRoutes(push.sends),
    tokenWebhookRoutes(push.tokenWebhook),
    webhookRoutes(management),
    alwaysEmptyRoutes(),
    notImplementedRoutes(),
  ];
}
