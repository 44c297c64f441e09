import type { StoredEmbed } from "../../../db/index/project/casts.ts";
import type { CastState, Hash } from "../../hydrate/casts.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import { createCastParts, type Mentioned, presentMentions, textWithNames } from "../cast-parts.ts";
import { memoizePresenter } from "../memoize.ts";
import { insertMentionNames, type TextWithNames } from "../mentions.ts";
import { presentChannelDehydrated } from "./channel.ts";
import { presentUser, type User, usernameOf } from "./user.ts";

const partsOf = createCastParts(presentUser, presentChannelDehydrated);

/** Presents the Cast object with its quoted casts; undefined for a cast that is not live. */
export function presentCast(hash: Hash, hydration: Hydration) {
  const cast = hydration.casts.get(hash);
  return cast && presentCastState(cast, hydration);
}

/** Presents the Cast object of a cast that need not be live; undefined when its author does not exist. */
export function presentCastState(cast: CastState, hydration: Hydration) {
  const related = partsOf(cast, hydration);
  if (!related) return undefined;
  const quotes = cast.embeds.map((embed) => ("url" in embed ? null : presentQuoted(embed, hydration)));
  return presentWhole(cast, ...related, quotes);
}

export type Cast = NonNullable<ReturnType<typeof presentCast>>;

/** Presents a quoted cast. Casts that it quotes itself are cast ids alone. A cast id with another author's fid is null. */
function presentQuoted({ fid, hash }: QuoteEmbed, hydration: Hydration) {
  const cast = hydration.casts.get(hash);
  const related = cast?.fid === fid ? partsOf(cast, hydration) : undefined;
  return cast && related ? presentShallow(cast, ...related) : null;
}

type QuoteEmbed = Extract<StoredEmbed, { hash: Hash }>;

type Quoted = ReturnType<typeof presentQuoted>;
type ChannelShown = ReturnType<typeof presentChannelDehydrated>;

const presentWhole = memoizePresenter(
  (
    cast: CastState,
    author: User,
    mentioned: Mentioned<User>,
    channel: ChannelShown,
    quotes: readonly Quoted[],
  ) =>
    presentFields(cast, author, mentioned, channel, (embed, at) =>
      "url" in embed ? { url: embed.url } : { cast_id: castIdOf(embed), cast: quotes[at] ?? null },
    ),
);

const presentShallow = memoizePresenter(
  (cast: CastState, author: User, mentioned: Mentioned<User>, channel: ChannelShown) =>
    presentFields(cast, author, mentioned, channel, (embed) =>
      "url" in embed ? { url: embed.url } : { cast_id: castIdOf(embed), cast: null },
    ),
);

const castIdOf = ({ fid, hash }: QuoteEmbed) => ({ fid, hash });

function presentFields<Embed>(
  cast: CastState,
  author: User,
  mentioned: Mentioned<User>,
  channel: ChannelShown,
  presentEmbed: (embed: StoredEmbed, at: number) => Embed,
) {
  const { text, ranges } = textWithNames(cast, mentioned);
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
