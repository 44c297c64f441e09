import { type Static, Type } from "@sinclair/typebox";
import { nullable, object } from "../api/dialects/fields.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { ToolContext } from "./tool.ts";

const Author = object({
  fid: Type.Integer(),
  username: nullable(Type.String()),
  display_name: nullable(Type.String()),
});

/** A cast as returned by tools. */
export const CastRecord = object({
  hash: Type.String(),
  author: Author,
  at: Type.String({ description: "ISO 8601, UTC" }),
  text: Type.String(),
  reply_to: nullable(Type.String()),
  channel: nullable(Type.String()),
  parent_url: nullable(Type.String()),
  embeds: Type.Array(Type.String(), { description: "URLs, and hashes of quoted casts. None was fetched." }),
  likes: Type.Integer(),
  recasts: Type.Integer(),
  replies: Type.Integer(),
  url: Type.String({ description: "Its page on this node" }),
});

/** A user as returned in lists. */
export const UserRecord = object({
  fid: Type.Integer(),
  username: nullable(Type.String()),
  display_name: nullable(Type.String()),
  bio: nullable(Type.String()),
  followers: Type.Integer(),
  following: Type.Integer(),
  url: Type.String(),
});

export const ChannelRecord = object({
  id: Type.String(),
  channel_name: nullable(Type.String()),
  channel_description: nullable(Type.String()),
  parent_url: nullable(Type.String()),
  followers: Type.Integer(),
  members: Type.Integer(),
  since: nullable(Type.String()),
});

/** The members of a native API user that tools read. */
export interface NativeUser {
  readonly fid: number;
  readonly username: string | null;
  readonly display_name: string | null;
  readonly registered_at: number | null;
  readonly profile: { readonly bio: { readonly text: string | null } | null } | null;
  readonly follower_count: number;
  readonly following_count: number;
  readonly verified_addresses: {
    readonly eth_addresses: readonly string[];
    readonly sol_addresses: readonly string[];
  };
}

/** The members of a native API cast that tools read. */
export interface NativeCast {
  readonly hash: string;
  readonly parent_hash: string | null;
  readonly parent_url: string | null;
  readonly author: NativeUser;
  readonly text: string;
  readonly timestamp: number;
  readonly embeds: readonly (
    | { readonly url: string }
    | { readonly cast_id: { readonly hash: string }; readonly cast?: NativeCast | null }
  )[];
  readonly reactions: { readonly likes_count: number; readonly recasts_count: number };
  readonly replies: { readonly count: number };
  readonly channel: { readonly id: string } | null;
}

/** The members of a native API channel that tools read. */
export interface NativeChannel {
  readonly id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly parent_url: string | null;
  readonly follower_count: number;
  readonly member_count: number;
  readonly created_at: number | null;
}

type PageUrl = Pick<ToolContext, "pageUrl">;

/** Returns the short record of a cast. */
export function castRecord(cast: NativeCast, { pageUrl }: PageUrl): Static<typeof CastRecord> {
  const { fid, username, display_name } = cast.author;
  return {
    hash: cast.hash,
    author: { fid, username: username ?? null, display_name: display_name ?? null },
    at: isoTime(cast.timestamp),
    text: cast.text,
    reply_to: cast.parent_hash,
    channel: cast.channel?.id ?? null,
    parent_url: cast.parent_url,
    embeds: cast.embeds.map((embed) => ("url" in embed ? embed.url : embed.cast_id.hash)),
    likes: cast.reactions.likes_count,
    recasts: cast.reactions.recasts_count,
    replies: cast.replies.count,
    url: pageUrl(`/casts/${cast.hash}`),
  };
}

/** Returns the casts that a cast quotes, as far as the node has them. */
export function quotedBy({ embeds }: NativeCast): readonly NativeCast[] {
  return embeds.flatMap((embed) => ("cast" in embed && embed.cast ? [embed.cast] : []));
}

/** Returns the short record of a user. */
export function userRecord(user: NativeUser, { pageUrl }: PageUrl): Static<typeof UserRecord> {
  return {
    fid: user.fid,
    username: user.username ?? null,
    display_name: user.display_name ?? null,
    bio: user.profile?.bio?.text ?? null,
    followers: user.follower_count,
    following: user.following_count,
    url: pageUrl(`/people/${user.fid}`),
  };
}

/** Returns the short record of a channel. */
export function channelRecord(channel: NativeChannel): Static<typeof ChannelRecord> {
  return {
    id: channel.id,
    channel_name: channel.name ?? null,
    channel_description: channel.description ?? null,
    parent_url: channel.parent_url ?? null,
    followers: channel.follower_count,
    members: channel.member_count,
    since: channel.created_at ? isoTime(channel.created_at) : null,
  };
}
