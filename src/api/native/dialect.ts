import type { Static } from "@sinclair/typebox";
import { nativePresenters } from "../../read/present/native/presenters.ts";
import type { Dialect, ResponseName, Undocumented } from "../shared/dialect.ts";
import {
  type Assignable,
  CastPageResponse,
  CastResponse,
  CastsResponse,
  UserPageResponse,
  UserResponse,
  UsersResponse,
} from "../shared/schemas.ts";
import { ConversationSummaryResponse, EmbedMetadataResponse } from "./casts/schemas.ts";
import { ChannelPageResponse, ChannelResponse, MembershipPageResponse } from "./channels/schemas.ts";
import { StorageAllocationsResponse, StorageUsageResponse } from "./storage/schemas.ts";

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

/** The native dialect, under the service's own prefix. */
export const nativeDialect: Dialect = { present: nativePresenters, schemas, adapt: (query) => query };

/** Compile-time check that each presenter and its documented response have the same type. */
export type ResponseTypeCheck = Assignable<
  Undocumented<
    Pick<typeof nativePresenters, ResponseName>,
    { [Name in ResponseName]: Static<(typeof schemas)[Name]> }
  >,
  never
>;
