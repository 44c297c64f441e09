import type { StoredEmbed } from "../../../db/index/project/casts.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import type { CastState, Hash } from "../../hydrate/casts.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import type { TextWithNames } from "../mentions.ts";
import { presentText } from "../native/cast.ts";
import { presentChannelDehydrated } from "./channel.ts";
import { presentUser, presentUserDehydrated } from "./user.ts";

/** The Cast object with its quoted casts; undefined for a cast that is not live. */
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

/** Profiles and ranges go in pairs, so a mention of an fid that does not exist has neither. */
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

/** The casts among `hashes` that are live, in the order given. */
export function presentCasts(hashes: readonly Hash[], hydration: Hydration): Cast[] {
  return hashes.flatMap((hash) => presentCast(hash, hydration) ?? []);
}

/** A cast that is only named; undefined for one that is not live. */
export function presentCastDehydrated(hash: Hash, hydration: Hydration) {
  const cast = hydration.casts.get(hash);
  const author = cast && presentUserDehydrated(cast.fid, hydration);
  return author && { object: "cast_dehydrated" as const, hash, author, app: null };
}

/** What a cast shows wherever it stands. */
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
 * A quoted cast that is not here, or is another author's than the embed says, stands as the URL under which clients
 * show it: typed clients read a cast wherever an embed is none by URL.
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

/** What a quoted cast quotes is only named, and only where it is at hand. */
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
