import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { cursor, fid, limit, optional, type QueryParams } from "../../http/request/params.ts";
import { compatPresenters } from "../../read/present/compat/presenters.ts";
import type { Dialect, ResponseName, Undocumented } from "../deps.ts";
import { ChannelRole } from "./channel-fields.ts";
import { CompatCast, CompatChannel, CompatUser, IsoTime, NoItems, UserDehydrated } from "./compat-objects.ts";
import { type Assignable, Count, Next, object } from "./fields.ts";

const one = <T extends Readonly<Record<string, TSchema>>>(fields: T) => object(fields);

export const CompatUserPage = one({ users: Type.Array(CompatUser), next: Next });

export const CompatCastPage = one({ casts: Type.Array(CompatCast), next: Next });

const Follower = object({ object: Type.Literal("follower"), user: CompatUser }, { $id: "FarcasterFollower" });

const MutualFollower = object(
  {
    object: Type.Literal("reciprocal_follower"),
    timestamp: IsoTime("The later of the two follows"),
    user: CompatUser,
  },
  { $id: "FarcasterReciprocalFollower" },
);

const Verification = one({
  object: Type.Literal("verification"),
  address: Type.String({ description: "Hex; base58 for Solana" }),
  protocol: Type.Union([Type.Literal("evm"), Type.Literal("solana")]),
  verified_at: IsoTime("When it was signed"),
});

export const CompatMember = object(
  { object: Type.Literal("member"), role: ChannelRole, user: CompatUser, channel: CompatChannel },
  { $id: "FarcasterChannelMember" },
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
const responseSchemas = {
  user: one({ user: CompatUser }),
  users: one({ users: Type.Array(CompatUser) }),
  userPage: CompatUserPage,
  userSearch: one({ result: CompatUserPage }),
  verifications: one({ verifications: Type.Array(Verification) }),
  followerPage: one({ users: Type.Array(Follower), next: Next }),
  mutualFollowPage: one({ users: Type.Array(MutualFollower), next: Next }),
  cast: one({ cast: CompatCast }),
  casts: one({ casts: Type.Array(CompatCast) }),
  castPage: CompatCastPage,
  channel: one({ channel: CompatChannel }),
  channelPage: one({ channels: Type.Array(CompatChannel), next: Next }),
  membershipPage: one({ members: Type.Array(CompatMember), next: Next }),
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
};

/** Default page size. */
const DEFAULT_LIMIT = 25;

/** The viewer. If present, objects contain `viewer_context`. */
export const viewerFid = () =>
  optional(
    fid({
      description:
        "Adds this user's relation to the shown objects. Lists leave out users that this user blocks or mutes, and users that block this user",
    }),
  );

const pageLimit = () => limit(DEFAULT_LIMIT);

/** The parameters of a page. */
export const compatPage = () => ({ limit: pageLimit(), cursor: cursor(), viewer_fid: viewerFid() });

function adapt(query: QueryParams): QueryParams {
  if (Object.keys(query).length === 0) return query;
  return { ...query, ...("limit" in query && { limit: pageLimit() }), viewer_fid: viewerFid() };
}

/** The dialect of the hosted API, for which most clients in this field are written. */
export const compatDialect: Dialect = {
  present: compatPresenters,
  schemas: responseSchemas,
  adapt,
  withAuthorRelations: true,
  withoutHiddenQuotes: true,
};

/** Compile-time check that each presenter and its documented response have the same type. */
export type ResponseTypeCheck = Assignable<
  Undocumented<
    Pick<typeof compatPresenters, ResponseName>,
    { [Name in ResponseName]: Static<(typeof responseSchemas)[Name]> }
  >,
  never
>;
