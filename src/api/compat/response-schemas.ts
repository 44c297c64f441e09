import { type Static, type TSchema, Type } from "@sinclair/typebox";
import type { compatPresenters } from "../../read/present/compat/presenters.ts";
import type { ResponseName, Undocumented } from "../shared/dialect.ts";
import { type Assignable, Count, closed, Next } from "../shared/schemas.ts";
import { Cast, Channel, IsoTime, NoItems, User, UserDehydrated } from "./schemas.ts";

const one = <T extends Readonly<Record<string, TSchema>>>(fields: T) => Type.Object(fields, closed);

export const UserPageResponse = one({ users: Type.Array(User), next: Next });
export const CastPageResponse = one({ casts: Type.Array(Cast), next: Next });

export const Follower = Type.Object(
  { object: Type.Literal("follower"), user: User },
  { ...closed, $id: "FarcasterFollower" },
);

const MutualFollower = Type.Object(
  {
    object: Type.Literal("reciprocal_follower"),
    timestamp: IsoTime("The later of the two follows"),
    user: User,
  },
  { ...closed, $id: "FarcasterReciprocalFollower" },
);

const Verification = one({
  object: Type.Literal("verification"),
  address: Type.String({ description: "Hex; base58 for Solana" }),
  protocol: Type.Union([Type.Literal("evm"), Type.Literal("solana")]),
  verified_at: IsoTime("When it was signed"),
});

export const Member = Type.Object(
  { object: Type.Literal("member"), role: Type.Literal("member"), user: User, channel: Channel },
  { ...closed, $id: "FarcasterChannelMember" },
);

const Allocation = one({
  object: Type.Literal("storage_allocation"),
  user: Type.Optional(UserDehydrated),
  units: Count,
  expiry: IsoTime("When the units expire"),
  timestamp: IsoTime("When they were rented"),
});

const StoreUse = one({ object: Type.Literal("storage"), used: Count, capacity: Count });

/** Schemas, in this dialect, of the responses that every dialect has. */
export const responseSchemas = {
  user: one({ user: User }),
  users: one({ users: Type.Array(User) }),
  userPage: UserPageResponse,
  userSearch: one({ result: UserPageResponse }),
  verifications: one({ verifications: Type.Array(Verification) }),
  followerPage: one({ users: Type.Array(Follower), next: Next }),
  mutualFollowPage: one({ users: Type.Array(MutualFollower), next: Next }),
  cast: one({ cast: Cast }),
  casts: one({ casts: Type.Array(Cast) }),
  castPage: CastPageResponse,
  channel: one({ channel: Channel }),
  channelPage: one({ channels: Type.Array(Channel), next: Next }),
  membershipPage: one({ members: Type.Array(Member), next: Next }),
  storageAllocations: one({ total_active_units: Count, allocations: Type.Array(Allocation) }),
  storageUsage: one({
    object: Type.Literal("storage_usage"),
    user: Type.Optional(UserDehydrated),
    total_active_units: Count,
    casts: StoreUse,
    links: StoreUse,
    reactions: StoreUse,
    verified_addresses: StoreUse,
    username_proofs: StoreUse,
  }),
  conversationSummary: one({
    summary: one({ text: Type.String(), mentioned_profiles: NoItems, participants: NoItems }),
  }),
  embedMetadata: one({ metadata: one({ _status: Type.String({ description: "Always `NOT_FETCHED`" }) }) }),
};

/** Compile-time check that each presenter and its documented response have the same type. */
export type ResponseTypeCheck = Assignable<
  Undocumented<
    Pick<typeof compatPresenters, ResponseName>,
    { [Name in ResponseName]: Static<(typeof responseSchemas)[Name]> }
  >,
  never
>;
