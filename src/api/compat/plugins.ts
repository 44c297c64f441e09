import type { AnyElysia } from "elysia";
import { appCampaignRoutes } from "../native/apps/campaign-routes.ts";
import { appRoutes } from "../native/apps/routes.ts";
import { appTokenRoutes } from "../native/apps/token-routes.ts";
import { sendRoutes } from "../native/send/routes.ts";
import { signerRoutes } from "../native/signers/routes.ts";
import { tokenWebhookRoutes } from "../native/token-webhook/routes.ts";
import { webhookDeliveryRoutes } from "../native/webhooks/delivery-routes.ts";
import type { ApiDeps } from "../shared/api-deps.ts";
import { commonReads } from "../shared/common-reads.ts";
import { readDepsFor } from "../shared/dialect.ts";
import { alwaysEmptyRoutes } from "../stubs/always-empty.ts";
import { notImplementedRoutes } from "../stubs/not-implemented.ts";
import { castLookupRoutes } from "./cast-routes.ts";
import { channelListRoutes } from "./channel-routes.ts";
import { conversationRoutes } from "./conversation-routes.ts";
import { compatDialect } from "./dialect.ts";
import { filterFeedRoutes } from "./feed-routes.ts";
import { interactionRoutes } from "./interaction-routes.ts";
import { lookupRoutes } from "./lookup-routes.ts";
import { clientOnlyRoutes, NOT_IMPLEMENTED_REASONS } from "./not-implemented.ts";
import { notificationListRoutes } from "./notification-routes.ts";
import { compatPushRoutes } from "./push-routes.ts";
import { reactionListRoutes } from "./reaction-routes.ts";
import { relationRoutes } from "./relation-routes.ts";
import { managedSignerRoutes } from "./signer-routes.ts";
import { authorFeedRoutes } from "./user-feed-routes.ts";
import { vendorRoutes } from "./vendor-routes.ts";
import { compatWebhookRoutes } from "./webhook-routes.ts";
import { messageRoutes } from "./write-routes/message-routes.ts";
import { PUBLISHED_OPERATIONS, publishRoutes } from "./write-routes/routes.ts";
import { createSeenMarks } from "./write-routes/seen-marks.ts";

/** Returns every route of the API in the compat dialect, with paths relative to the prefix. */
export function compatPlugins({ source, management, push, signers, publish, writes }: ApiDeps): AnyElysia[] {
  const deps = readDepsFor(source, compatDialect);
  const { reads } = deps;
  const { db, clock } = source;
  const { names, staleReason } = management.auth;
  const { headerPrefix } = names;
  return [
    ...commonReads(deps),
    lookupRoutes(reads),
    relationRoutes(reads),
    interactionRoutes(reads),
    castLookupRoutes(reads),
    conversationRoutes(reads),
    reactionListRoutes(reads),
    channelListRoutes(reads),
    notificationListRoutes(reads, createSeenMarks(publish.seen)),
    filterFeedRoutes(reads),
    authorFeedRoutes(reads),
    vendorRoutes(reads),
    signerRoutes(reads, ["/onchain/signers", "/signers"]),
    appRoutes(management),
    appTokenRoutes(push),
    appCampaignRoutes(push),
    sendRoutes(push.sends),
    compatPushRoutes(push),
    tokenWebhookRoutes(push.tokenWebhook),
    compatWebhookRoutes(management),
    webhookDeliveryRoutes(management),
    alwaysEmptyRoutes(reads, ["/signer/developer_managed"]),
    messageRoutes({ writes, headerPrefix }),
    ...publishRoutes({ ...publish, writes, headerPrefix, db, clock, signers, staleReason }),
    managedSignerRoutes({ signers, reads }),
    notImplementedRoutes({
      served: ["createSigner", "registerSignedKey", ...PUBLISHED_OPERATIONS],
      reasons: NOT_IMPLEMENTED_REASONS,
      when: "Always. Neither the protocol nor this service has such an operation.",
    }),
    clientOnlyRoutes(),
  ];
}
