import type { AnyElysia } from "elysia";
import type { ApiParts } from "../api-parts.ts";
import { appCampaignRoutes } from "../apps/campaign-routes.ts";
import { appRoutes } from "../apps/routes.ts";
import { appTokenRoutes } from "../apps/token-routes.ts";
import { commonReads } from "../common-reads.ts";
import { readPartsOf } from "../dialect.ts";
import { sendRoutes } from "../send/routes.ts";
import { signerRoutes } from "../signers/routes.ts";
import { alwaysEmptyRoutes } from "../tables/always-empty.ts";
import { notImplementedRoutes } from "../tables/not-implemented.ts";
import { tokenWebhookRoutes } from "../token-webhook/routes.ts";
import { webhookDeliveryRoutes } from "../webhooks/delivery-routes.ts";
import { castLookupRoutes } from "./cast-routes.ts";
import { channelListRoutes } from "./channel-routes.ts";
import { conversationRoutes } from "./conversation-routes.ts";
import { farcasterDialect } from "./dialect.ts";
import { filterFeedRoutes } from "./feed-routes.ts";
import { interactionRoutes } from "./interaction-routes.ts";
import { lookupRoutes } from "./lookup-routes.ts";
import { clientWriteRoutes } from "./not-implemented.ts";
import { notificationListRoutes } from "./notification-routes.ts";
import { farcasterPushRoutes } from "./push-routes.ts";
import { reactionListRoutes } from "./reaction-routes.ts";
import { relationRoutes } from "./relation-routes.ts";
import { authorFeedRoutes } from "./user-feed-routes.ts";
import { vendorRoutes } from "./vendor-routes.ts";
import { farcasterWebhookRoutes } from "./webhook-routes.ts";

/** Every route of the API in the dialect of the compat prefixes, with paths within such a prefix. */
export function farcasterPlugins({ source, management, push }: ApiParts): AnyElysia[] {
  const parts = readPartsOf(source, farcasterDialect);
  const { reads } = parts;
  return [
    ...commonReads(parts),
    lookupRoutes(reads),
    relationRoutes(reads),
    interactionRoutes(reads),
    castLookupRoutes(reads),
    conversationRoutes(reads),
    reactionListRoutes(reads),
    channelListRoutes(reads),
    notificationListRoutes(reads),
    filterFeedRoutes(reads),
    authorFeedRoutes(reads),
    vendorRoutes(reads),
    signerRoutes(reads, ["/onchain/signers", "/signers"]),
    appRoutes(management),
    appTokenRoutes(push),
    appCampaignRoutes(push),
    sendRoutes(push.sends),
    farcasterPushRoutes(push),
    tokenWebhookRoutes(push.tokenWebhook),
    farcasterWebhookRoutes(management),
    webhookDeliveryRoutes(management),
    alwaysEmptyRoutes(reads, ["/signer/developer_managed"]),
    notImplementedRoutes(),
    clientWriteRoutes(),
  ];
}
