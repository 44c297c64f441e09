import type { StoredEmbed } from "../../../db/index/project/casts.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import type { CastState, Hash } from "../../hydrate/casts.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import { createCastParts, type Mentioned, presentMentions, textWithNames } from "../cast-parts.ts";
import { memoizePresenter } from "../memoize.ts";
import { type ChannelDehydrated, presentChannelDehydrated } from "./channel.ts";
import { presentUser, presentUserDehydrated, type User, type UserDehydrated } from "./user.ts";

type ChannelShown = ChannelDehydrated | null;

const partsOf = createCastParts(presentUser, presentChannelDehydrated);
const quotePartsOf = createCastParts(presentUserDehydrated, presentChannelDehydrated);

/** Presents the Cast object with its quoted casts; undefined for a cast that is not live. */
export function presentCast(hash: Hash, hydration: Hydration): Cast | undefined {
  const cast = hydration.casts.get(hash);
  const parts = cast && partsOf(cast, hydration);
  if (!parts) return undefined;
  const quotes = cast.embeds.map((embed) => presentQuote(embed, hydration));
  if (!hydration.viewer) return presentMemoized(cast, ...parts, quotes);
  const context = hydration.viewer.casts.get(hash);
  return {
    ...presentState(cast, ...parts, quotes),
    ...(context && { viewer_context: { liked: context.liked, recasted: context.recasted } }),
  };
}

function presentState(
  cast: CastState,
  author: User,
  mentioned: Mentioned<User>,
  channel: ChannelShown,
  quotes: readonly (Quote | undefined)[],
) {
  const { text, ranges } = textWithNames(cast, mentioned);
  return {
    object: "cast" as const,
    ...commonFields(cast, text, channel),
    thread_hash: cast.threadHash,
    author,
    embeds: cast.embeds.map((embed, at) => quotes[at] ?? urlEmbed(embed)),
    ...(cast.parent && { type: "cast-reply" as const }),
    reactions: { likes_count: cast.likes, recasts_count: cast.recasts, likes: [], recasts: [] },
    replies: { count: cast.replies },
    ...presentMentions(mentioned, ranges),
    mentioned_channels: [],
    mentioned_channels_ranges: [],
  };
}

const presentMemoized = memoizePresenter(presentState);

export type Cast = ReturnType<typeof presentState> & {
  viewer_context?: { liked: boolean; recasted: boolean };
};

/** Presents the live casts among `hashes`, in the order of `hashes`. */
export function presentCasts(hashes: readonly Hash[], hydration: Hydration): Cast[] {
  return hashes.flatMap((hash) => presentCast(hash, hydration) ?? []);
}

/** Presents a cast by hash and author alone; undefined for a cast that is not live. */
export function presentCastDehydrated(hash: Hash, hydration: Hydration) {
  const cast = hydration.casts.get(hash);
  const author = cast && presentUserDehydrated(cast.fid, hydration);
  return author && presentDehydrated(cast, author);
}

type CastDehydrated = NonNullable<ReturnType<typeof presentCastDehydrated>>;

const presentDehydrated = memoizePresenter(({ hash }: CastState, author: UserDehydrated) => {
  return { object: "cast_dehydrated" as const, hash, author, app: null };
});

/** The fields that a cast and a quoted cast share. */
function commonFields(cast: CastState, text: string, channel: ChannelShown) {
  return {
    hash: cast.hash,
    parent_hash: cast.parent?.hash ?? null,
    parent_url: cast.parentUrl,
    root_parent_url: cast.rootParentUrl,
    parent_author: { fid: cast.parent?.fid ?? null },
    text,
    timestamp: isoTime(cast.timestamp),
    channel,
    app: null,
  };
}

/**
 * Presents a URL, or a quoted cast that is not in the index or whose author is not the one in the embed. Such a cast is
 * the URL under which clients show it: typed clients expect a cast in every embed that is not a URL.
 */
function urlEmbed(embed: StoredEmbed) {
  return { url: "url" in embed ? embed.url : `https://farcaster.xyz/~/conversations/${embed.hash}` };
}

/** Presents the quoted cast of an embed; undefined for another embed and for a cast that `urlEmbed` presents. */
function presentQuote(embed: StoredEmbed, hydration: Hydration): Quote | undefined {
  const quoted = quotedCast(embed, hydration);
  const parts = quoted && quotePartsOf(quoted, hydration);
  if (!parts) return undefined;
  // A cast that a quoted cast quotes in turn is dehydrated, or a URL when it was not loaded.
  const deeper = quoted.embeds.map((inner) => {
    const cast = quotedCast(inner, hydration);
    return cast && presentCastDehydrated(cast.hash, hydration);
  });
  return (hydration.viewer ? quoteEmbed : presentMemoizedQuote)(quoted, ...parts, deeper);
}

function quoteEmbed(
  cast: CastState,
  author: UserDehydrated,
  mentioned: Mentioned<UserDehydrated>,
  channel: ChannelShown,
  deeper: readonly (CastDehydrated | undefined)[],
) {
  const { text } = textWithNames(cast, mentioned);
  const embeds = cast.embeds.map((embed, at) => {
    const quoted = deeper[at];
    return quoted && "hash" in embed
      ? { cast_id: { fid: embed.fid, hash: embed.hash }, cast: quoted }
      : urlEmbed(embed);
  });
  return {
    cast_id: { fid: cast.fid, hash: cast.hash },
    cast: { ...commonFields(cast, text, channel), author, embeds },
  };
}

type Quote = ReturnType<typeof quoteEmbed>;

const presentMemoizedQuote = memoizePresenter(quoteEmbed);

function quotedCast(embed: StoredEmbed, { casts }: Hydration): CastState | undefined {
  const cast = "hash" in embed ? casts.get(embed.hash) : undefined;
  return cast && "fid" in embed && cast.fid === embed.fid ? cast : undefined;
}
