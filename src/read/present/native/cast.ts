import type { StoredEmbed } from "../../../db/index/project/casts.ts";
import { openListText } from "../../../lib/json-text.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import type { CastState, Hash } from "../../hydrate/casts.ts";
import { type Hydration, hashOf } from "../../hydrate/hydrate.ts";
import type { ConversationNode } from "../../queries/casts/conversation.ts";
import type { Reaction as ReactionState } from "../../queries/casts/reactions.ts";
import type { CastSlices } from "../../run-query.ts";
import {
  createCastParts,
  type EmbedPreviews,
  insertMentionNames,
  type Mentioned,
  presentMentions,
  presentUrl,
  previewsOf,
  type TextWithNames,
  textWithNames,
} from "../cast-parts.ts";
import { memoizePresenter, oncePerVersion } from "../presenters.ts";
import { presentChannelDehydrated } from "./channel.ts";
import { presentUser, type User, usernameOf } from "./user.ts";

const partsOf = createCastParts(presentUser, presentChannelDehydrated);

/** Presents the Cast object with its quoted casts; undefined for a cast that is not live. */
export function presentCast(hash: Hash, hydration: Hydration) {
  const cast = hydration.casts.get(hash);
  if (!cast) return undefined;
  // Memoized objects would miss preview changes, which happen without a commit.
  return hydration.previews ? presentCastState(cast, hydration) : presentKnown(cast, hydration);
}

const presentKnown = oncePerVersion((cast: CastState, hydration: Hydration) =>
  presentCastState(cast, hydration),
);

/** Presents the Cast object of a cast that need not be live; undefined if its author does not exist. */
export function presentCastState(cast: CastState, hydration: Hydration) {
  const related = partsOf(cast, hydration);
  if (!related) return undefined;
  const quotes = cast.embeds.map((embed) => ("url" in embed ? null : presentQuoted(embed, hydration)));
  return presentWhole(cast, ...related, quotes, previewsOf(cast, hydration));
}

export type Cast = NonNullable<ReturnType<typeof presentCast>>;

/**
 * Presents a quoted cast. The casts that it quotes in turn are only cast ids. A cast id with another author's fid is null.
 */
function presentQuoted({ fid, hash }: QuoteEmbed, hydration: Hydration) {
  const cast = hydration.casts.get(hash);
  const related = cast?.fid === fid ? partsOf(cast, hydration) : undefined;
  return cast && related ? presentShallow(cast, ...related, previewsOf(cast, hydration)) : null;
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
    previews: EmbedPreviews,
  ) =>
    presentFields(cast, author, mentioned, channel, (embed, at) =>
      "url" in embed
        ? presentUrl(embed.url, previews?.[at])
        : { cast_id: castIdOf(embed), cast: quotes[at] ?? null },
    ),
);

const presentShallow = memoizePresenter(
  (
    cast: CastState,
    author: User,
    mentioned: Mentioned<User>,
    channel: ChannelShown,
    previews: EmbedPreviews,
  ) =>
    presentFields(cast, author, mentioned, channel, (embed, at) =>
      "url" in embed ? presentUrl(embed.url, previews?.[at]) : { cast_id: castIdOf(embed), cast: null },
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

/** Returns the text with the names of the mentioned users inserted, as clients show it. */
export function presentText(
  { text, mentions }: Pick<CastState, "text" | "mentions">,
  users: Hydration["users"],
): TextWithNames {
  return insertMentionNames(text, mentions, (fid) => {
    const user = users.get(fid);
    return user ? usernameOf(user) : `!${fid}`;
  });
}

/** Presents a like or recast with its user and cast; undefined if either does not exist. */
export function presentReaction(reaction: ReactionState, hydration: Hydration) {
  const user = presentUser(reaction.fid, hydration);
  const cast = presentCast(hashOf(reaction.castId, hydration), hydration);
  if (!user || !cast) return undefined;
  return {
    reaction_type:
      reaction.type === ReactionType.REACTION_TYPE_LIKE ? ("like" as const) : ("recast" as const),
    user,
    cast,
    timestamp: reaction.timestamp,
  };
}

export type Reaction = NonNullable<ReturnType<typeof presentReaction>>;

/** Approximate size of a piece of text, in characters. */
const PIECE_CHARS = 32 * 1024;

/** A cast with the replies below it. */
export interface CastWithReplies {
  readonly cast: Cast;
  readonly replies: CastWithReplies[];
}

const REPLIES = "replies" satisfies keyof CastWithReplies;

type WithoutReplies = Omit<CastWithReplies, typeof REPLIES>;

/** Presents a cast of a conversation without its replies; undefined for a cast that is not live. */
export function presentCastWithoutReplies(hash: Hash, hydration: Hydration): WithoutReplies | undefined {
  const cast = presentCast(hash, hydration);
  return cast && { cast };
}

/** Yields the JSON of a conversation in pieces. `nodes` and `slices` contain its casts in the same order. */
export async function* conversationText(
  nodes: readonly ConversationNode[],
  slices: CastSlices<WithoutReplies>,
): AsyncGenerator<string, void, void> {
  const tree = new TreeText(REPLIES);
  let at = 0;
  let text = "";
  for await (const slice of slices) {
    for (const shown of slice) {
      text += tree.next(nodes[at++]?.depth ?? 0, shown);
      if (text.length < PIECE_CHARS) continue;
      yield text;
      text = "";
    }
  }
  yield text + tree.end();
}

const CHILDREN_END = "]}";

/**
 * Writes the JSON of a tree one node at a time, each node before its children, which become the last key of its object. An
 * undefined node is omitted together with its subtree. The first node is the root and must not be undefined.
 */
export class TreeText {
  readonly #childrenKey: string;
  /** Number of nodes whose list of children is open: the length of the path to the last node. */
  #open = 0;
  #skippedDepth = Number.POSITIVE_INFINITY;

  constructor(childrenKey: string) {
    this.#childrenKey = childrenKey;
  }

  /**
   * Returns the text of the next node.
   *
   * @param shown the object without its children.
   * @param depth 0 for the root.
   */
  next(depth: number, shown: object | undefined): string {
    if (depth > this.#skippedDepth) return "";
    this.#skippedDepth = shown ? Number.POSITIVE_INFINITY : depth;
    if (!shown) return "";
    const closed = this.#open - depth;
    this.#open = depth + 1;
    const before = closed > 0 ? `${CHILDREN_END.repeat(closed)},` : "";
    return before + openListText(shown, this.#childrenKey);
  }

  /** Returns the text after the last node. */
  end(): string {
    return CHILDREN_END.repeat(this.#open);
  }
}
