import { type Static, type TSchema, Type } from "@sinclair/typebox";
import type { Cast as PresentedCast } from "../../read/present/native/cast.ts";
import type { Channel as PresentedChannel } from "../../read/present/native/channel.ts";
import type { User as PresentedUser } from "../../read/present/native/user.ts";
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
  UnixSecs,
  UrlEmbed,
  verifiedFields,
} from "./fields.ts";

/** Objects of the native dialect's responses, for the OpenAPI document. */

export const User = object(
  {
    object: Type.Literal("user"),
    fid: Fid,
    username: Type.String({ description: "`!<fid>` while the user has no live name" }),
    display_name: nullable(Type.String()),
    custody_address: nullable(EthAddress),
    pfp_url: nullable(Type.String()),
    registered_at: nullable(UnixSecs("First registration")),
    profile: object({
      bio: object({ text: Type.String() }),
      location: nullable(object({ latitude: Type.Number(), longitude: Type.Number() })),
      banner: nullable(object({ url: Type.String() })),
      url: nullable(Type.String()),
    }),
    follower_count: Count,
    following_count: Count,
    verifications: Type.Array(EthAddress),
    auth_addresses: Type.Array(object({ address: EthAddress, app: object({ fid: nullable(Fid) }) }), {
      description: "Addresses that may sign in as the user, each with the app that requested it",
    }),
    ...verifiedFields,
    pro: nullable(
      object({
        status: Type.Union([Type.Literal("subscribed"), Type.Literal("unsubscribed")]),
        subscribed_at: UnixSecs("Start of the subscription"),
        expires_at: UnixSecs("End of the subscription"),
      }),
    ),
    power_badge: Type.Boolean({ description: "Always false" }),
    ...scoreFields,
  },
  { $id: "User" },
);

const ChannelDehydrated = object(
  {
    object: Type.Literal("channel_dehydrated"),
    id: Type.String(),
    name: Type.String(),
    image_url: nullable(Type.String()),
    parent_url: Type.String({
      description: "The channel's canonical URL, whichever client's host the cast used",
    }),
  },
  { $id: "ChannelDehydrated" },
);

const castFields = <Embed extends TSchema>(embed: Embed) => ({
  object: Type.Literal("cast"),
  hash: Hash,
  thread_hash: Hash,
  ...parentFields,
  author: User,
  text: CastText,
  timestamp: UnixSecs("When the cast was published"),
  embeds: Type.Array(embed),
  type: Type.Union([Type.Literal("cast"), Type.Literal("cast-reply")]),
  reactions: object({
    likes_count: Count,
    recasts_count: Count,
    likes: Type.Array(Type.Never(), { description: "Always empty" }),
    recasts: Type.Array(Type.Never(), { description: "Always empty" }),
  }),
  replies: object({ count: Count }),
  mentioned_profiles: Type.Array(User),
  mentioned_profiles_ranges: MentionRanges,
  channel: nullable(ChannelDehydrated),
  app: Type.Null(),
});

const EmbeddedCast = object(
  castFields(Type.Union([UrlEmbed, object({ cast_id: CastId, cast: Type.Null() })])),
  { $id: "EmbeddedCast", description: "A quoted cast; casts that it quotes itself are not embedded" },
);

export const Cast = object(
  castFields(Type.Union([UrlEmbed, object({ cast_id: CastId, cast: nullable(EmbeddedCast) })])),
  { $id: "Cast" },
);

export const Channel = object(
  {
    object: Type.Literal("channel"),
    id: Type.String({ description: "The name in a client's channel URL, otherwise the parent URL itself" }),
    url: Type.String(),
    parent_url: Type.String({ description: "The parent URL of casts in the channel" }),
    name: Type.String({ description: "The id if no data was imported for the channel" }),
    image_url: nullable(Type.String()),
    description: nullable(Type.String()),
    lead: nullable(User),
    moderator_fids: Type.Array(Fid),
    follower_count: Count,
    member_count: Count,
    created_at: nullable(UnixSecs("First registration, else as imported, else the first live cast")),
    pinned_cast_hash: nullable(Hash),
    source: ChannelSource,
    channel_id: nullable(ChannelId),
    owner: nullable(ChannelOwner),
    owner_address: nullable(EthAddress),
    expires_at: nullable(UnixSecs("When the registration ends")),
    lapsed: Type.Boolean({ description: LAPSED }),
    header: nullable(Type.String()),
    rules: nullable(Type.String()),
    casting_mode: nullable(CastingMode),
    membership_mode: nullable(MembershipMode),
  },
  { $id: "Channel" },
);

export const Member = object(
  {
    object: Type.Literal("member"),
    role: ChannelRole,
    user: User,
    channel: Channel,
  },
  { $id: "ChannelMember" },
);

/** Compile-time check that a presenter and its documented object have the same type. */
export type ObjectTypeCheck = Assignable<PresentedUser, Static<typeof User>> &
  Assignable<PresentedCast, Static<typeof Cast>> &
  Assignable<PresentedChannel, Static<typeof Channel>>;
