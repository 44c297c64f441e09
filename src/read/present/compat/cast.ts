import type { StoredEmbed } from "../../../db/index/project/casts.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import type { CastState, Hash } from "../../hydrate/casts.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import type { TextWithNames } from "../mentions.ts";
import { presentText } from "../native/cast.ts";
import { presentChannelDehydrated } from "./channel.ts";
import { presentUser, presentUserDehydrated } from "./user.ts";

/** Presents the Cast object with its quoted casts; undefined for a cast that is not live. */
export function presentCast(hash: Hash, hydration: Hydration) {
  const cast = hydration.casts.get(hash);
  const author = cast && presentUser(cast.fid, hydration);
  if (!cast || !author) return undefined;
  const { text, ranges } = presentText(cast, hydration.users);
  const context = hydration.viewer?.casts.get(hash);
  return {
    object: "cast" as const,
    ...presentCommonFields(cast, text, hydration),
    thread_hash: cast.threadHash,
    author,
    embeds: cast.embeds.map((embed) => presentEmbed(embed, hydration)),
    ...(cast.parent && { type: "cast-reply" as const }),
    reactions: { likes_count: cast.likes, recasts_count: cast.recasts, likes: [], recasts: [] },
    replies: { count: cast.replies },
    ...presentMentions(cast, ranges, hydration),
    mentioned_channels: [],
    mentioned_channels_ranges: [],
    ...(context && { viewer_context: { liked: context.liked, recasted: context.recasted } }),
  };
}

export type Cast = NonNullable<ReturnType<typeof presentCast>>;

/** Profiles and ranges are parallel lists, so a mention of an fid that does not exist is in neither. */
function presentMentions(cast: CastState, ranges: TextWithNames["ranges"], hydration: Hydration) {
  const mentioned = cast.mentions.flatMap(([fid], at) => {
    const user = presentUser(fid, hydration);
    const range = ranges[at];
    return user && range ? [{ user, range }] : [];
  });
  return {
    mentioned_profiles: mentioned.map(({ user }) => user),
    mentioned_profiles_ranges: mentioned.map(({ range: { start, end } }) => ({ start, end })),
  };
}

/** Presents the live casts among `hashes`, in the order of `hashes`. */
export function presentCasts(hashes: readonly Hash[], hydration: Hydration): Cast[] {
  return hashes.flatMap((hash) => presentCast(hash, hydration) ?? []);
}

/** Presents a cast by hash and author alone; undefined for a cast that is not live. */
export function presentCastDehydrated(hash: Hash, hydration: Hydration) {
  const cast = hydration.casts.get(hash);
  const author = cast && presentUserDehydrated(cast.fid, hydration);
  return author && { object: "cast_dehydrated" as const, hash, author, app: null };
}

/** The fields that a cast and a quoted cast share. */
function presentCommonFields(cast: CastState, text: string, hydration: Hydration) {
  return {
    hash: cast.hash,
    parent_hash: cast.parent?.hash ?? null,
    parent_url: cast.parentUrl,
    root_parent_url: cast.rootParentUrl,
    parent_author: { fid: cast.parent?.fid ?? null },
    text,
    timestamp: isoTime(cast.timestamp),
    channel: presentChannelDehydrated(cast.rootParentUrl, hydration),
    app: null,
  };
}

type QuoteEmbed = Extract<StoredEmbed, { hash: Hash }>;

/**
 * The embed for a quoted cast that is not in the index, or whose author is not the one in the embed: the URL under which
 * clients show the cast. Typed clients expect a cast in every embed that is not a URL.
 */
function quoteUrl({ hash }: QuoteEmbed) {
  return { url: `https://farcaster.xyz/~/conversations/${hash}` };
}

function presentEmbed(embed: StoredEmbed, hydration: Hydration) {
  if ("url" in embed) return { url: embed.url };
  const quoted = quotedCast(embed, hydration);
  const author = quoted && presentUserDehydrated(quoted.fid, hydration);
  if (!quoted || !author) return quoteUrl(embed);
  const embeds = quoted.embeds.map((inner) => presentDeepEmbed(inner, hydration));
  const cast = {
    ...presentCommonFields(quoted, presentText(quoted, hydration.users).text, hydration),
    author,
    embeds,
  };
  return { cast_id: { fid: embed.fid, hash: embed.hash }, cast };
}

/** Presents an embed of a quoted cast. A cast that it quotes in turn is dehydrated, or a URL when it was not loaded. */
function presentDeepEmbed(embed: StoredEmbed, hydration: Hydration) {
  if ("url" in embed) return { url: embed.url };
  const quoted = quotedCast(embed, hydration);
  const cast = quoted && presentCastDehydrated(quoted.hash, hydration);
  return cast ? { cast_id: { fid: embed.fid, hash: embed.hash }, cast } : quoteUrl(embed);
}

function quotedCast({ fid, hash }: QuoteEmbed, hydration: Hydration): CastState | undefined {
  const cast = hydration.casts.get(hash);
  return cast?.fid === fid ? cast : undefined;
}
