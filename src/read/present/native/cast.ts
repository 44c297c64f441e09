import type { StoredEmbed } from "../../../db/index/project/casts.ts";
import type { CastState, Hash } from "../../hydrate/casts.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import { memoizePresenter } from "../memoize.ts";
import { insertMentionNames, type TextWithNames } from "../mentions.ts";
import { presentChannelDehydrated } from "./channel.ts";
import { presentUser, type User, usernameOf } from "./user.ts";

/** Presents the Cast object with its quoted casts; undefined for a cast that is not live. */
export function presentCast(hash: Hash, hydration: Hydration) {
  const cast = hydration.casts.get(hash);
  return cast && presentCastState(cast, hydration);
}

/** Presents the Cast object of a cast that need not be live; undefined when its author does not exist. */
export function presentCastState(cast: CastState, hydration: Hydration) {
  const related = relatedObjects(cast, hydration);
  if (!related) return undefined;
  const quotes = cast.embeds.map((embed) => ("url" in embed ? null : presentQuoted(embed, hydration)));
  return presentWhole(cast, ...related, quotes);
}

export type Cast = NonNullable<ReturnType<typeof presentCast>>;

/** Presents a quoted cast. Casts that it quotes itself are cast ids alone. A cast id with another author's fid is null. */
function presentQuoted({ fid, hash }: QuoteEmbed, hydration: Hydration) {
  const cast = hydration.casts.get(hash);
  const related = cast?.fid === fid ? relatedObjects(cast, hydration) : undefined;
  return cast && related ? presentShallow(cast, ...related) : null;
}

type QuoteEmbed = Extract<StoredEmbed, { hash: Hash }>;

/** Returns the other objects that a cast shows; undefined when its author does not exist. */
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

/** Profiles and ranges are parallel lists, so a mention of an fid that does not exist is in neither. */
function presentMentions(
  mentioned: Mentioned,
  ranges: TextWithNames["ranges"],
): { mentioned_profiles: User[]; mentioned_profiles_ranges: { start: number; end: number }[] } {
  const profiles: User[] = [];
  const profileRanges: { start: number; end: number }[] = [];
  mentioned.forEach((user, at) => {
    const range = ranges[at];
    if (!user || !range) return;
    profiles.push(user);
    profileRanges.push(range);
  });
  return { mentioned_profiles: profiles, mentioned_profiles_ranges: profileRanges };
}

/** Returns the text with the names of the mentioned users inserted, the form that clients show. */
export function presentText(
  { text, mentions }: Pick<CastState, "text" | "mentions">,
  users: Hydration["users"],
): TextWithNames {
  return insertMentionNames(text, mentions, (fid) => {
    const user = users.get(fid);
    return user ? usernameOf(user) : `!${fid}`;
  });
}
