import type { AnyElysia } from "elysia";
import type { HttpServerOptions } from "../http/server.ts";
import type { ApiParts } from "./api-parts.ts";
import { appCampaignRoutes } from "./apps/campaign-routes.ts";
import { appRoutes } from "./apps/routes.ts";
import { appTokenRoutes } from "./apps/token-routes.ts";
import { blockRoutes } from "./blocks/routes.ts";
import { castListRoutes } from "./casts/list-routes.ts";
import { channelMemberRoutes } from "./channels/member-routes.ts";
import { trendingChannelRoutes } from "./channels/trending-routes.ts";
import { commonReads } from "./common-reads.ts";
import { readPartsOf } from "./dialect.ts";
import { loadDocumentation } from "./documentation.ts";
import { farcasterPlugins } from "./farcaster/plugins.ts";
import { followingFeedRoutes } from "./feeds/following-routes.ts";
import { userFeedRoutes } from "./feeds/user-routes.ts";
import { relevantFollowerRoutes } from "./follows/relevant-routes.ts";
import { notificationRoutes } from "./notifications/routes.ts";
import { reactionRoutes } from "./reactions/routes.ts";
import { sendRoutes } from "./send/routes.ts";
import { signerRoutes } from "./signers/routes.ts";
import { specDialect } from "./spec-dialect.ts";
import { alwaysEmptyRoutes } from "./tables/always-empty.ts";
import { notImplementedRoutes } from "./tables/not-implemented.ts";
import { tokenWebhookRoutes } from "./token-webhook/routes.ts";
import { userListRoutes } from "./users/list-routes.ts";
import { userLookupRoutes } from "./users/lookup-routes.ts";
import { webhookDeliveryRoutes } from "./webhooks/delivery-routes.ts";
import { webhookRoutes } from "./webhooks/routes.ts";

/** Every route of the API, in the service's own dialect and in that of the compat prefixes. */
export function apiPlugins(
  parts: ApiParts,
): Pick<HttpServerOptions, "plugins" | "compatPlugins" | "documentation"> {
  return {
    plugins: specPlugins(parts),
    compatPlugins: () => farcasterPlugins(parts),
    documentation: loadDocumentation,
  };
}

function specPlugins({ source, management, push }: ApiParts): AnyElysia[] {
  const parts = readPartsOf(source, specDialect);
  const { reads } = parts;
  return [
    ...commonReads(parts),
    userLookupRoutes(parts),
    userListRoutes(parts),
    relevantFollowerRoutes(parts),
    castListRoutes(parts),
    followingFeedRoutes(parts),
    userFeedRoutes(parts),
    reactionRoutes(reads),
    signerRoutes(reads, ["/signer", "/signers", "/signer/list", "/onchain/signers"]),
    blockRoutes(parts),
    channelMemberRoutes(parts),
    trendingChannelRoutes(parts),
    notificationRoutes(reads),
    appRoutes(management),
    appTokenRoutes(push),
    appCampaignRoutes(push),
    sendRoutes(push.sends),
    tokenWebhookRoutes(push.tokenWebhook),
    webhookRoutes(management),
    webhookDeliveryRoutes(management),
    alwaysEmptyRoutes(reads),
    notImplementedRoutes(),
  ];
}
