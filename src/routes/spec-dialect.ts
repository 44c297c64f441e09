import type { Static } from "@sinclair/typebox";
import { specPresenters } from "../read/present/spec.ts";
import { ConversationSummaryResponse, EmbedMetadataResponse } from "./casts/objects.ts";
import { ChannelPageResponse, ChannelResponse, MembershipPageResponse } from "./channels/objects.ts";
import type { AnswerName, Dialect, Undocumented } from "./dialect.ts";
import {
  CastPageResponse,
  CastResponse,
  CastsResponse,
  type Same,
  UserPageResponse,
  UserResponse,
  UsersResponse,
} from "./objects.ts";
import { StorageAllocationsResponse, StorageUsageResponse } from "./storage/objects.ts";

const schemas = {
  user: UserResponse,
  users: UsersResponse,
  userPage: UserPageResponse,
  userSearch: UserPageResponse,
  verifications: UserResponse,
  followerPage: UserPageResponse,
  mutualFollowPage: UserPageResponse,
  cast: CastResponse,
  casts: CastsResponse,
  castPage: CastPageResponse,
  channel: ChannelResponse,
  channelPage: ChannelPageResponse,
  membershipPage: MembershipPageResponse,
  storageAllocations: StorageAllocationsResponse,
  storageUsage: StorageUsageResponse,
  conversationSummary: ConversationSummaryResponse,
  embedMetadata: EmbedMetadataResponse,
};

/** The service's own dialect, under its own prefix. */
export const specDialect: Dialect = { present: specPresenters, schemas, adapt: (query) => query };

/** Fails to compile when a presenter and its documented answer part ways. */
export type AnswersAreDocumented = Same<
  Undocumented<
    Pick<typeof specPresenters, AnswerName>,
    { [Name in AnswerName]: Static<(typeof schemas)[Name]> }
  >,
  never
>;
