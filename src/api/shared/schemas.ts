import { type Static, type TSchema, Type } from "@sinclair/typebox";
import type { Cast as PresentedCast } from "../../read/present/native/cast.ts";
import type { User as PresentedUser } from "../../read/present/native/user.ts";

/** Objects of the native dialect's responses, for the OpenAPI document. */

export const closed = { additionalProperties: false } as const;

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const UnixSecs = (description: string) =>
  Type.Integer({ minimum: 0, description: `${description}, unix seconds` });

export const Fid = Type.Integer({ format: "int64", minimum: 0 });
export const Hash = Type.String({ pattern: "^0x[0-9a-f]{40}$" });
export const EthAddress = Type.String({ pattern: "^0x[0-9a-f]{40}$" });
export const SolAddress = Type.String({ minLength: 32, maxLength: 44, description: "base58" });
export const Count = Type.Integer({ minimum: 0 });

export const Next = Type.Object(
  { cursor: nullable(Type.String({ description: "Opaque; send it back to get the next page" })) },
  {
    ...closed,
    $id: "Next",
    description: "Position of the next page; `cursor` is null at the end of the list",
  },
);

/** Fields of a user that are the same in every dialect. */
export const verifiedFields = {
  verified_addresses: Type.Object(
    {
      eth_addresses: Type.Array(EthAddress),
      sol_addresses: Type.Array(SolAddress),
      primary: Type.Object({ eth_address: nullable(EthAddress), sol_address: nullable(SolAddress) }, closed),
    },
    closed,
  ),
  verified_accounts: Type.Array(
    Type.Object(
      { platform: Type.Union([Type.Literal("x"), Type.Literal("github")]), username: Type.String() },
      closed,
    ),
  ),
};

export const MentionRanges = Type.Array(
  Type.Object(
    { start: Count, end: Count },
    { ...closed, description: "UTF-16 offsets into `text`; `end` is exclusive" },
  ),
);

export const User = Type.Object(
  {
    object: Type.Literal("user"),
    fid: Fid,
    username: Type.String({ description: "`!<fid>` while the user has no live name" }),
    display_name: nullable(Type.String()),
    custody_address: nullable(EthAddress),
    pfp_url: nullable(Type.String()),
    registered_at: nullable(UnixSecs("First registration")),
    profile: Type.Object(
      {
        bio: Type.Object({ text: Type.String() }, closed),
        location: nullable(Type.Object({ latitude: Type.Number(), longitude: Type.Number() }, closed)),
        banner: nullable(Type.Object({ url: Type.String() }, closed)),
        url: nullable(Type.String()),
      },
      closed,
    ),
    follower_count: Count,
    following_count: Count,
    verifications: Type.Array(EthAddress),
    auth_addresses: Type.Array(
      Type.Object({ address: EthAddress, app: Type.Object({ fid: nullable(Fid) }, closed) }, closed),
      { description: "Addresses that may sign in as the user, each with the app that requested it" },
    ),
    ...verifiedFields,
    pro: nullable(
      Type.Object(
        {
          status: Type.Union([Type.Literal("subscribed"), Type.Literal("unsubscribed")]),
          subscribed_at: UnixSecs("Start of the subscription"),
          expires_at: UnixSecs("End of the subscription"),
        },
        closed,
      ),
    ),
    power_badge: Type.Boolean({ description: "Always false" }),
  },
  { ...closed, $id: "User" },
);

const ChannelDehydrated = Type.Object(
  {
    object: Type.Literal("channel_dehydrated"),
    id: Type.String(),
    name: Type.String(),
    image_url: nullable(Type.String()),
    parent_url: Type.String({
      description: "The channel's canonical URL, whichever client's host the cast used",
    }),
  },
  { ...closed, $id: "ChannelDehydrated" },
);

export const CastId = Type.Object({ fid: Fid, hash: Hash }, closed);
export const UrlEmbed = Type.Object({ url: Type.String() }, closed);

/** Fields of a cast that are the same in every dialect. */
export const parentFields = {
  parent_hash: nullable(Hash),
  parent_url: nullable(Type.String()),
  root_parent_url: nullable(Type.String()),
  parent_author: Type.Object({ fid: nullable(Fid) }, closed),
};
export const CastText = Type.String({
  description: "Contains `@username` at the positions of the mentions",
});

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
  reactions: Type.Object(
    {
      likes_count: Count,
      recasts_count: Count,
      likes: Type.Array(Type.Never(), { description: "Always empty" }),
      recasts: Type.Array(Type.Never(), { description: "Always empty" }),
    },
    closed,
  ),
  replies: Type.Object({ count: Count }, closed),
  mentioned_profiles: Type.Array(User),
  mentioned_profiles_ranges: MentionRanges,
  channel: nullable(ChannelDehydrated),
  app: Type.Null(),
});

const EmbeddedCast = Type.Object(
  castFields(Type.Union([UrlEmbed, Type.Object({ cast_id: CastId, cast: Type.Null() }, closed)])),
  {
    ...closed,
    $id: "EmbeddedCast",
    description: "A quoted cast; casts that it quotes itself are not embedded",
  },
);

export const Cast = Type.Object(
  castFields(Type.Union([UrlEmbed, Type.Object({ cast_id: CastId, cast: nullable(EmbeddedCast) }, closed)])),
  { ...closed, $id: "Cast" },
);

export const UserResponse = Type.Object({ user: User }, closed);
export const UsersResponse = Type.Object({ users: Type.Array(User) }, closed);
export const UserPageResponse = Type.Object({ users: Type.Array(User), next: Next }, closed);
export const CastResponse = Type.Object({ cast: Cast }, closed);
export const CastsResponse = Type.Object({ casts: Type.Array(Cast) }, closed);
export const CastPageResponse = Type.Object({ casts: Type.Array(Cast), next: Next }, closed);

/** Compile-time check that a presenter and its documented object have the same type. */
export type Assignable<A extends B, B> = [A] extends [B] ? true : never;
export type ObjectTypeCheck = Assignable<PresentedUser, Static<typeof User>> &
  Assignable<PresentedCast, Static<typeof Cast>>;
