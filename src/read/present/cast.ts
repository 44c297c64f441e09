import type { StoredEmbed } from "../../index/project/casts.ts";
import type { CastState, Hash } from "../hydrate/casts.ts";
import type { Hydration } from "../hydrate/hydrate.ts";
import { presentChannelDehydrated } from "./channel.ts";
import { putNamesIn } from "./mentions.ts";
import { presentUser, type User, usernameOf } from "./user.ts";

/** The Cast object with its quoted casts; undefined for a cast that is not live. */
export function presentCast(hash: Hash, hydration: Hydration) {
  return presentWith(hash, hydration, (embed) => presentQuote(embed, hydration));
}

export type Cast = NonNullable<ReturnType<typeof presentCast>>;

/** A Cast object whose own quoted casts are named but not shown: how a quoted cast stands in another. */
function presentShallowCast(hash: Hash, hydration: Hydration) {
  return presentWith(hash, hydration, presentQuoteShallow);
}

function presentQuoteShallow(embed: StoredEmbed) {
  return "url" in embed ? { url: embed.url } : { cast_id: { fid: embed.fid, hash: embed.hash }, cast: null };
}

function presentQuote(embed: StoredEmbed, hydration: Hydration) {
  if ("url" in embed) return { url: embed.url };
  const quoted = hydration.casts.get(embed.hash);
  // A cast id with another author's fid names no cast.
  const cast = quoted?.fid === embed.fid ? presentShallowCast(embed.hash, hydration) : undefined;
  return { cast_id: { fid: embed.fid, hash: embed.hash }, cast: cast ?? null };
}

function presentWith<Embed>(hash: Hash, hydration: Hydration, presentEmbed: (embed: StoredEmbed) => Embed) {
  const cast = hydration.casts.get(hash);
  const author = cast && presentUser(cast.fid, hydration);
  if (!cast || !author) return undefined;
  const { text, ranges } = putNamesIn(cast.text, cast.mentions, (fid) => nameOf(fid, hydration));
  return {
    object: "cast" as const,
    hash,
    thread_hash: cast.threadHash,
    parent_hash: cast.parent?.hash ?? null,
    parent_url: cast.parentUrl,
    root_parent_url: cast.rootParentUrl,
    parent_author: { fid: cast.parent?.fid ?? null },
    author,
    text,
    timestamp: cast.timestamp,
    embeds: cast.embeds.map(presentEmbed),
    type: cast.parent ? ("cast-reply" as const) : ("cast" as const),
    reactions: { likes_count: cast.likes, recasts_count: cast.recasts, likes: [], recasts: [] },
    replies: { count: cast.replies },
    ...presentMentions(cast, ranges, hydration),
    channel: presentChannelDehydrated(cast.rootParentUrl, hydration),
    app: null,
  };
}

/** Profiles and ranges go in pairs, so a mention of an fid that does not exist has neither. */
function presentMentions(
  cast: CastState,
  ranges: readonly { start: number; end: number }[],
  hydration: Hydration,
): { mentioned_profiles: User[]; mentioned_profiles_ranges: { start: number; end: number }[] } {
  const profiles: User[] = [];
  const kept: { start: number; end: number }[] = [];
  cast.mentions.forEach(([fid], at) => {
    const user = presentUser(fid, hydration);
    const range = ranges[at];
    if (!user || !range) return;
    profiles.push(user);
    kept.push(range);
  });
  return { mentioned_profiles: profiles, mentioned_profiles_ranges: kept };
}

function nameOf(fid: number, hydration: Hydration): string {
  const user = hydration.users.get(fid);
  return user ? usernameOf(user) : `!${fid}`;
}
