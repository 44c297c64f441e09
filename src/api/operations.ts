import type { TSchema } from "@sinclair/typebox";
import type { SignatureRule } from "../auth/signed-routes.ts";
import type { QueryParams } from "../http/request/params.ts";
import type { OperationCommand } from "./command.ts";
import type { ApiDeps } from "./deps.ts";
import type { Operation } from "./op.ts";
import { apiKeyOperations } from "./operations/account/api-keys.ts";
import { auditOperations } from "./operations/account/audit.ts";
import { noticeOperations } from "./operations/account/notices.ts";
import { sessionOperations } from "./operations/account/sessions.ts";
import { appOperations } from "./operations/apps/apps.ts";
import { audienceOperations } from "./operations/apps/audience.ts";
import { campaignOperations } from "./operations/apps/campaigns.ts";
import { catalogOperations } from "./operations/apps/catalog.ts";
import { manifestOperations } from "./operations/apps/manifests.ts";
import { pushByKeyOperations } from "./operations/apps/push-by-key.ts";
import { sendOperations } from "./operations/apps/send.ts";
import { tokenWebhookOperations } from "./operations/apps/token-webhook.ts";
import { tokenOperations } from "./operations/apps/tokens.ts";
import { batchOperations } from "./operations/batch.ts";
import { castOperations } from "./operations/casts/casts.ts";
import { conversationOperations } from "./operations/casts/conversations.ts";
import { embedOperations } from "./operations/casts/embeds.ts";
import { reactionOperations } from "./operations/casts/reactions.ts";
import { channelOperations } from "./operations/channels/channels.ts";
import { memberOperations } from "./operations/channels/members.ts";
import { registeredChannelOperations } from "./operations/channels/registered.ts";
import { channelFeedOperations, feedOperations } from "./operations/feeds/feed.ts";
import { followingFeedOperations } from "./operations/feeds/following.ts";
import { forYouOperations } from "./operations/feeds/for-you.ts";
import { topicOperations } from "./operations/feeds/topics.ts";
import { trendingFeedOperations } from "./operations/feeds/trending.ts";
import { userFeedOperations } from "./operations/feeds/user-casts.ts";
import { historyOperations } from "./operations/history/history.ts";
import { notificationOperations } from "./operations/notifications/notifications.ts";
import { seenOperations } from "./operations/notifications/seen.ts";
import { previewOperations } from "./operations/preview.ts";
import { openReportOperations, resultOperations } from "./operations/push/opens.ts";
import { savedOperations } from "./operations/push/saved.ts";
import { scheduleOperations } from "./operations/push/schedules.ts";
import { searchOperations } from "./operations/search.ts";
import { loginOperations } from "./operations/sign-in/login.ts";
import { loginClientOperations } from "./operations/sign-in/login-clients.ts";
import { signerLookupOperations } from "./operations/signers/lookups.ts";
import { managedSignerOperations } from "./operations/signers/managed-signers.ts";
import { signerByKeyOperations } from "./operations/signers/signers-by-key.ts";
import { streamOperations } from "./operations/stream/stream.ts";
import { prepareOperations } from "./operations/transactions/prepare.ts";
import { emptyListOperations, unservedOperations } from "./operations/unserved.ts";
import { appBanOperations } from "./operations/users/app-bans.ts";
import { balanceOperations } from "./operations/users/balances.ts";
import { blockOperations } from "./operations/users/blocks.ts";
import { followOperations } from "./operations/users/follows.ts";
import { lookupOperations } from "./operations/users/lookups.ts";
import { moderationOperations } from "./operations/users/moderation.ts";
import { registryOperations } from "./operations/users/registry.ts";
import { relationOperations } from "./operations/users/relations.ts";
import { scoreOperations } from "./operations/users/score.ts";
import { storageOperations } from "./operations/users/storage.ts";
import { usernameOperations } from "./operations/users/usernames.ts";
import { userOperations } from "./operations/users/users.ts";
import { deliveryOperations } from "./operations/webhooks/deliveries.ts";
import { webhookOperations } from "./operations/webhooks/webhooks.ts";
import { castWriteOperations } from "./operations/writes/casts.ts";
import { channelMemberWriteOperations } from "./operations/writes/channel-members.ts";
import { channelSettingsWriteOperations } from "./operations/writes/channel-settings.ts";
import { channelWriteOperations } from "./operations/writes/channels.ts";
import { linkWriteOperations } from "./operations/writes/links.ts";
import { messageOperations } from "./operations/writes/messages.ts";
import { ownWriteOperations } from "./operations/writes/own-writes.ts";
import { profileWriteOperations } from "./operations/writes/profile.ts";
import { reactionWriteOperations } from "./operations/writes/reactions.ts";

/** The operations that owners sign. */
const SIGNED = [
  ...appOperations,
  ...tokenOperations,
  ...campaignOperations,
  ...audienceOperations,
  ...scheduleOperations,
  ...savedOperations,
  ...resultOperations,
  ...apiKeyOperations,
  ...webhookOperations,
  ...deliveryOperations,
  ...managedSignerOperations,
  ...noticeOperations,
  ...sessionOperations,
  ...loginClientOperations,
  ...appBanOperations,
  ...ownWriteOperations,
  ...auditOperations,
] as const;

/** Every operation of both dialects, in the order of the OpenAPI document. */
export const OPERATIONS: readonly Operation<ApiDeps>[] = [
  ...userOperations,
  ...lookupOperations,
  ...scoreOperations,
  ...relationOperations,
  ...searchOperations,
  ...followOperations,
  ...blockOperations,
  ...moderationOperations,
  ...castOperations,
  ...embedOperations,
  ...conversationOperations,
  ...reactionOperations,
  ...feedOperations,
  ...followingFeedOperations,
  ...trendingFeedOperations,
  ...forYouOperations,
  ...topicOperations,
  ...channelFeedOperations,
  ...userFeedOperations,
  ...channelOperations,
  ...memberOperations,
  ...registeredChannelOperations,
  ...notificationOperations,
  ...usernameOperations,
  ...registryOperations,
  ...storageOperations,
  ...balanceOperations,
  ...batchOperations,
  ...streamOperations,
  ...historyOperations,
  ...SIGNED,
  ...sendOperations,
  ...pushByKeyOperations,
  ...tokenWebhookOperations,
  ...openReportOperations,
  ...manifestOperations,
  ...catalogOperations,
  ...castWriteOperations,
  ...reactionWriteOperations,
  ...channelWriteOperations,
  ...channelMemberWriteOperations,
  ...channelSettingsWriteOperations,
  ...linkWriteOperations,
  ...profileWriteOperations,
  ...seenOperations,
  ...messageOperations,
  ...previewOperations,
  ...signerByKeyOperations,
  ...loginOperations,
  ...signerLookupOperations,
  ...prepareOperations,
  ...emptyListOperations,
  ...unservedOperations,
];

export type SignedOperationId = (typeof SIGNED)[number]["id"];

/** A signed operation as clients call it. */
interface SignedCall extends SignatureRule {
  /** Relative to `/v2/<service>`. */
  readonly path: string;
  readonly command?: OperationCommand | undefined;
  readonly query?: QueryParams | undefined;
  readonly body?: TSchema | undefined;
}

/** How each signed operation is called and signed, by id. */
export const signedOperations = Object.fromEntries(
  SIGNED.map(({ id, path, rule, command, query, body }) => [id, { path, ...rule, command, query, body }]),
) as Readonly<Record<SignedOperationId, SignedCall>>;
