import { type Static, Type } from "@sinclair/typebox";
import type { Cast as PresentedCompatCast } from "../../read/present/compat/cast.ts";
import type { Channel as PresentedCompatChannel } from "../../read/present/compat/channel.ts";
import type {
  User as PresentedCompatUser,
  UserDehydrated as PresentedUserDehydrated,
} from "../../read/present/compat/user.ts";
import {
  CastingMode,
  ChannelId,
  ChannelOwner,
  ChannelRole,
  ChannelSource,
  LAPSED,
  MembershipMode,
} from "./channel-fields.ts";
import {
  type Assignable,
  CastId,
  CastText,
  Count,
  EthAddress,
  Fid,
  Hash,
  MentionRanges,
  nullable,
  object,
  parentFields,
  scoreFields,
  UrlEmbed,
  verifiedFields,
} from "./fields.ts";

/** Objects of the compat dialect's responses, for the OpenAPI document. */

export const IsoTime = (description: string) =>
  Type.String({ format: "date-time", description: `${description}, ISO 8601 with milliseconds` });

export const NoItems = Type.Array(Type.Never(), { description: "Always empty" });

export const UserDehydrated = object(
  {
    object: Type.Literal("user_dehydrated"),
    fid: Fid,
    username: Type.String(),
    display_name: nullable(Type.String()),
    pfp_url: nullable(Type.String()),
    custody_address: EthAddress,
    ...scoreFields,
  },
  { $id: "FarcasterUserDehydrated" },
);

/** A user with only the fid. */
const BareUser = object({ object: Type.Literal("user_dehydrated"), fid: Type.Integer({ minimum: 0 }) });

const UserContext = object(
  {
    following: Type.Boolean({ description: "The viewer follows the user" }),
    followed_by: Type.Boolean({ description: "The user follows the viewer" }),
    blocking: Type.Boolean({ description: "The viewer blocks the user" }),
    blocked_by: Type.Boolean({ description: "The user blocks the viewer" }),
    muting: Type.Boolean({
      description: "The viewer mutes the user, in public or in the app of the API key",
    }),
    banned: Type.Boolean({ description: "The app of the API key bans the user" }),
  },
  { description: "Present if the request has `viewer_fid`" },
);

export const userFields = {
  fid: Fid,
  username: Type.String({ description: "`!<fid>` while the user has no live name" }),
  display_name: nullable(Type.String()),
  custody_address: EthAddress,
  pfp_url: nullable(Type.String()),
  registered_at: IsoTime("First registration"),
  profile: object({
    bio: object({ text: Type.String() }),
    location: Type.Optional(object({ latitude: Type.Number(), longitude: Type.Number() })),
    banner: Type.Optional(object({ url: Type.String() })),
    url: Type.Optional(Type.String()),
  }),
  follower_count: Count,
  following_count: Count,
  verifications: Type.Array(EthAddress),
  auth_addresses: Type.Array(
    object({
      address: EthAddress,
      app: Type.Union([UserDehydrated, BareUser]),
    }),
    { description: "Addresses that may sign in as the user, each with the app that requested it" },
  ),
  ...verifiedFields,
  pro: Type.Optional(
    object({
      status: Type.Union([Type.Literal("subscribed"), Type.Literal("unsubscribed")]),
      subscribed_at: IsoTime("Start of the subscription"),
      expires_at: IsoTime("End of the subscription"),
    }),
  ),
  power_badge: Type.Boolean({ description: "Always false" }),
  ...scoreFields,
  viewer_context: Type.Optional(UserContext),
};

export const CompatUser = object({ object: Type.Literal("user"), ...userFields }, { $id: "FarcasterUser" });

const channelRelation = (description: string) =>
  object({ following: Type.Boolean(), role: Type.Optional(ChannelRole) }, { description });

const ChannelContext = channelRelation(
  "Present if the request has `viewer_fid`. In a channel that is not registered, a user with casts counts as a member and follower",
);

const CompatChannelDehydrated = object(
  {
    object: Type.Literal("channel_dehydrated"),
    id: Type.String(),
    name: Type.String(),
    image_url: Type.Optional(Type.String()),
    parent_url: Type.String(),
    viewer_context: Type.Optional(ChannelContext),
  },
  { $id: "FarcasterChannelDehydrated" },
);

const channelFields = {
  id: Type.String({ description: "The name in a client's channel URL, otherwise the parent URL itself" }),
  url: Type.String(),
  parent_url: Type.String(),
  name: Type.String(),
  image_url: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  lead: Type.Optional(CompatUser),
  hosts: Type.Array(CompatUser, { description: "The lead, if there is one" }),
  moderator_fids: Type.Array(Fid),
  follower_count: Count,
  member_count: Count,
  created_at: IsoTime("First registration; otherwise as imported, or the first live cast"),
  pinned_cast_hash: Type.Optional(Hash),
  source: ChannelSource,
  channel_id: Type.Optional(ChannelId),
  owner: Type.Optional(ChannelOwner),
  owner_address: Type.Optional(EthAddress),
  expires_at: Type.Optional(IsoTime("When the registration ends")),
  lapsed: Type.Optional(Type.Literal(true, { description: LAPSED })),
  header: Type.Optional(Type.String()),
  rules: Type.Optional(Type.String()),
  casting_mode: Type.Optional(CastingMode),
  membership_mode: Type.Optional(MembershipMode),
  viewer_context: Type.Optional(ChannelContext),
};

export const CompatChannel = object(
  { object: Type.Literal("channel"), ...channelFields },
  { $id: "FarcasterChannel" },
);

export const CastDehydrated = object(
  { object: Type.Literal("cast_dehydrated"), hash: Hash, author: UserDehydrated, app: Type.Null() },
  { $id: "FarcasterCastDehydrated" },
);

/** Why a quoted cast is empty and its author only an fid. */
const hiddenField = {
  hidden: Type.Optional(
    Type.Union([Type.Literal("blocked"), Type.Literal("muted"), Type.Literal("banned")], {
      description:
        "Why the cast is empty and its author only an fid: the viewer and the author block each other, in either direction, the viewer " +
        "mutes the author, or the app of the API key bans them",
    }),
  ),
};

const CompatQuotedDehydrated = object(
  {
    object: Type.Literal("cast_dehydrated"),
    hash: Hash,
    author: Type.Union([UserDehydrated, BareUser]),
    app: Type.Null(),
    ...hiddenField,
  },
  { $id: "FarcasterQuotedDehydrated" },
);

const bodyFields = {
  hash: Hash,
  ...parentFields,
  text: CastText,
  timestamp: IsoTime("When the cast was published"),
  channel: nullable(CompatChannelDehydrated),
  app: Type.Null(),
};

const orUrl = "A quoted cast that this node does not have is replaced by its URL in a client";

const CompatEmbeddedCast = object(
  {
    ...bodyFields,
    author: Type.Union([UserDehydrated, BareUser]),
    embeds: Type.Array(Type.Union([UrlEmbed, object({ cast_id: CastId, cast: CompatQuotedDehydrated })]), {
      description: orUrl,
    }),
    ...hiddenField,
  },
  { $id: "FarcasterEmbeddedCast" },
);

export const compatCastFields = {
  object: Type.Literal("cast"),
  ...bodyFields,
  thread_hash: Hash,
  author: CompatUser,
  embeds: Type.Array(Type.Union([UrlEmbed, object({ cast_id: CastId, cast: CompatEmbeddedCast })]), {
    description: orUrl,
  }),
  type: Type.Optional(Type.Literal("cast-reply")),
  reactions: object({ likes_count: Count, recasts_count: Count, likes: NoItems, recasts: NoItems }),
  replies: object({ count: Count }),
  mentioned_profiles: Type.Array(CompatUser),
  mentioned_profiles_ranges: MentionRanges,
  author_channel_context: Type.Optional(
    channelRelation("What the author is to the registered channel of the thread"),
  ),
  mentioned_channels: NoItems,
  mentioned_channels_ranges: NoItems,
  viewer_context: Type.Optional(
    object(
      { liked: Type.Boolean(), recasted: Type.Boolean() },
      { description: "Present if the request has `viewer_fid`" },
    ),
  ),
};

export const CompatCast = object(compatCastFields, { $id: "FarcasterCast" });

/** Compile-time check that each presenter and its documented object have the same type. */
export type ObjectTypeCheck = Assignable<PresentedCompatUser, Static<typeof CompatUser>> &
  Assignable<PresentedUserDehydrated, Static<typeof UserDehydrated>> &
  Assignable<PresentedCompatChannel, Static<typeof CompatChannel>> &
  Assignable<PresentedCompatCast, Static<typeof CompatCast>>;
