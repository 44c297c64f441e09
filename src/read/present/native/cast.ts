import type { StoredEmbed } from "../../../db/index/project/casts.ts";
import type { CastState, Hash } from "../../hydrate/casts.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import { memoizePresenter } from "../memoize.ts";
import { insertMentionNames, type TextWithNames } from "../mentions.ts";
import { presentChannelDehydrated } from "./channel.ts";
import { presentUser, type User, usernameOf } from "./user.ts";

/** The Cast object with its quoted casts; undefined for a cast that is not live. */
export function presentCast(hash: Hash, hydration: Hydration) {
  const cast = hydration.casts.get(hash);
  return cast && presentCastState(cast, hydration);
}

/** The Cast object of a cast that need not be live; undefined when its author does not exist. */
export function presentCastState(cast: CastState, hydration: Hydration) {
  const people = relatedObjects(cast, hydration);
  if (!people) return undefined;
  const quotes = cast.embeds.map((embed) => ("url" in embed ? null : presentQuoted(embed, hydration)));
  return presentWhole(cast, ...people, quotes);
}

export type Cast = NonNullable<ReturnType<typeof presentCast>>;

/** A cast as another shows it: what it quotes itself is only named. A cast id with another author's fid names none. */
function presentQuoted({ fid, hash }: QuoteEmbed, hydration: Hydration) {
  const cast = hydration.casts.get(hash);
  const people = cast?.fid === fid ? relatedObjects(cast, hydration) : undefined;
  return cast && people ? presentShallow(cast, ...people) : null;
}

type QuoteEmbed = Extract<StoredEmbed, { hash: Hash }>;

/** The other objects that a cast shows; undefined without its author. */
function relatedObjects(cast: CastState, hydration: Hydration) {
  const author = presentUser(cast.fid, hydration);
  if (!author) return undefined;
  const mentioned = cast.mentions.map(([fid]) => presentUser(fid, hydration));
  return [author, mentioned, presentChannelDehydrated(cast.rootParentUrl, hydration)] as const;
}

type Quoted = ReturnType<typeof presentQuoted>;
type Mentioned = readonly (User | undefined)[];
type ChannelShown = ReturnType<typeof presentChannelDehydrated>;

const presentWhole = memoizePresenter(
  (cast: CastState, author: User, mentioned: Mentioned, channel: ChannelShown, quotes: readonly Quoted[]) =>
    presentFields(cast, author, mentioned, channel, (embed, at) =>
      "url" in embed ? { url: embed.url } : { cast_id: castIdOf(embed), cast: quotes[at] ?? null },
    ),
);

const presentShallow = memoizePresenter(
  (cast: CastState, author: User, mentioned: Mentioned, channel: ChannelShown) =>
    presentFields(cast, author, mentioned, channel, (embed) =>
      "url" in embed ? { url: embed.url } : { cast_id: castIdOf(embed), cast: null },
    ),
);

const castIdOf = ({ fid, hash }: QuoteEmbed) => ({ fid, hash });

function presentFields<Embed>(
  cast: CastState,
  author: User,
  mentioned: Mentioned,
  channel: ChannelShown,
  presentEmbed: (embed: StoredEmbed, at: number) => Embed,
) {
  const names = new Map(mentioned.flatMap((user) => (user ? [[user.fid, user.username] as const] : [])));
  const { text, ranges } = insertMentionNames(cast.text, cast.mentions, (fid) => names.get(fid) ?? `!${fid}`);
  return {
    object: "cast" as const,
    hash: cast.hash,
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
    ...presentMentions(mentioned, ranges),
    channel,
    app: null,
  };
}

/** Profiles and ranges go in pairs, so a mention of an fid that does not exist has neither. */
function presentMentions(
  mentioned: Mentioned,
  ranges: TextWithNames["ranges"],
): { mentioned_profiles: User[]; mentioned_profiles_ranges: { start: number; end: number }[] } {
  const profiles: User[] = [];
  const kept: { start: number; end: number }[] = [];
  mentioned.forEach((user, at) => {
    const range = ranges[at];
    if (!user || !range) return;
    profiles.push(user);
    kept.push(range);
  });
  return { mentioned_profiles: profiles, mentioned_profiles_ranges: kept };
}

/** The text with the names of those whom it mentions, as everybody reads it. */
export function presentText(
  { text, mentions }: Pick<CastState, "text" | "mentions">,
  users: Hydration["users"],
): TextWithNames {
  return insertMentionNames(text, mentions, (fid) => {
    const user = users.get(fid);
    return user ? usernameOf(user) : `!${fid}`;
  });
}
