import { type Static, Type } from "@sinclair/typebox";
import type { Channel as PresentedChannel } from "../../../read/present/native/channel.ts";
import { Count, closed, Fid, Hash, Next, nullable, UnixSecs, User } from "../../shared/schemas.ts";

export const Channel = Type.Object(
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
    created_at: nullable(UnixSecs("As imported, else the first live cast")),
    pinned_cast_hash: nullable(Hash),
  },
  { ...closed, $id: "Channel" },
);

const Member = Type.Object(
  {
    object: Type.Literal("member"),
    role: Type.Literal("member"),
    user: User,
    channel: Channel,
  },
  { ...closed, $id: "ChannelMember" },
);

export const ChannelResponse = Type.Object({ channel: Channel }, closed);
export const ChannelPageResponse = Type.Object({ channels: Type.Array(Channel), next: Next }, closed);
export const MembershipPageResponse = Type.Object(
  { members: Type.Array(Member), channels: Type.Array(Channel), next: Next },
  closed,
);

/** Compile-time check that the presenter and the documented object have the same type. */
type Assignable<A, B> = [A] extends [B] ? true : never;
export type ChannelTypeCheck = Assignable<PresentedChannel, Static<typeof Channel>>;
