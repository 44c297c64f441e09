import type { AnyElysia } from "elysia";
import type { HttpServerOptions } from "../../http/server.ts";
import { compatPlugins } from "../compat/plugins.ts";
import { apiKeyRoutes } from "../native/api-keys/routes.ts";
import { appAudienceRoutes } from "../native/apps/audience-routes.ts";
import { appCampaignRoutes } from "../native/apps/campaign-routes.ts";
import { appRoutes } from "../native/apps/routes.ts";
import { appTokenRoutes } from "../native/apps/token-routes.ts";
import { auditRoutes } from "../native/audit/routes.ts";
import { blockRoutes } from "../native/blocks/routes.ts";
import { castListRoutes } from "../native/casts/list-routes.ts";
import { channelMemberRoutes } from "../native/channels/member-routes.ts";
import { trendingChannelRoutes } from "../native/channels/trending-routes.ts";
import { nativeDialect } from "../native/dialect.ts";
import { followingFeedRoutes } from "../native/feeds/following-routes.ts";
import { userFeedRoutes } from "../native/feeds/user-routes.ts";
import { relevantFollowerRoutes } from "../native/follows/relevant-routes.ts";
import { managedSignerOperations } from "../native/managed-signers/routes.ts";
import { notificationRoutes } from "../native/notifications/routes.ts";
import { reactionRoutes } from "../native/reactions/routes.ts";
import { sendRoutes } from "../native/send/routes.ts";
import { sessionRoutes } from "../native/sessions/routes.ts";
import { signerRoutes } from "../native/signers/routes.ts";
import { streamRoutes } from "../native/stream/routes.ts";
import { tokenWebhookRoutes } from "../native/token-webhook/routes.ts";
import { userListRoutes } from "../native/users/list-routes.ts";
import { userLookupRoutes } from "../native/users/lookup-routes.ts";
import { webhookDeliveryRoutes } from "../native/webhooks/delivery-routes.ts";
import { webhookRoutes } from "../native/webhooks/routes.ts";
import { alwaysEmptyRoutes } from "../stubs/always-empty.ts";
import { notImplementedRoutes } from "../stubs/not-implemented.ts";
import type { ApiDeps } from "./api-deps.ts";
import { commonReads } from "./common-reads.ts";
import { readDepsFor } from "./dialect.ts";
import { loadDocumentation } from "./documentation.ts";
import { priceOf } from "./prices.ts";

/** Returns every route of the API, in the native dialect and in the compat dialect. */
export function apiPlugins(
  deps: ApiDeps,
): Pick<HttpServerOptions, "plugins" | "compatPlugins" | "documentation" | "priceOf"> {
  return {
    plugins: nativePlugins(deps),
    compatPlugins: () => compatPlugins(deps),
    documentation: loadDocumentation,
    priceOf,
  };
}

function nativePlugins({ source, management, push, signers, audit, stream }: ApiDeps): AnyElysia[] {
  const deps = readDepsFor(source, nativeDialect);
  const { reads } = deps;
  return [
    ...commonReads(deps),
    userLookupRoutes(deps),
    userListRoutes(deps),
    relevantFollowerRoutes(deps),
    castListRoutes(deps),
    followingFeedRoutes(deps),
    userFeedRoutes(deps),
    reactionRoutes(reads),
    signerRoutes(reads, ["/signer", "/signers", "/signer/list", "/onchain/signers"]),
    blockRoutes(deps),
    channelMemberRoutes(deps),
    trendingChannelRoutes(deps),
    notificationRoutes(reads),
    apiKeyRoutes(management),
    appRoutes(management),
    appTokenRoutes(push),
    appCampaignRoutes(push),
    appAudienceRoutes(push),
    sendRoutes(push.sends),
    tokenWebhookRoutes(push.tokenWebhook),
    webhookRoutes(management),
    webhookDeliveryRoutes(management),
    streamRoutes({ ...stream, maxIds: source.maxIds }),
    alwaysEmptyRoutes(reads),
    managedSignerOperations(management, signers),
    auditRoutes(management, audit),
    sessionRoutes(management),
    notImplementedRoutes(),
  ];
}
