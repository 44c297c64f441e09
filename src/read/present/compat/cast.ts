import type { StoredEmbed } from "../../../db/index/project/casts.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import type { Page } from "../../cursor.ts";
import type { CastState, Hash } from "../../hydrate/casts.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import type { PreviewApp, PreviewMetadata } from "../../hydrate/previews.ts";
import type { HiddenReason } from "../../hydrate/relations.ts";
import {
  createCastParts,
  type EmbedPreviews,
  type Mentioned,
  presentMentions,
  presentUrl,
  textWithNames,
} from "../cast-parts.ts";
import { memoizePresenter, oncePerVersion } from "../presenters.ts";
import { type ChannelDehydrated, presentChannelDehydrated, presentRelation } from "./channel.ts";
import { presentManifest } from "./mini-app.ts";
import { type BareUser, presentUser, presentUserDehydrated, type User, type UserDehydrated } from "./user.ts";

type ChannelShown = ChannelDehydrated | null;

const partsOf = createCastParts(presentUser, presentChannelDehydrated);
const quotePartsOf = createCastParts(presentUserDehydrated, presentChannelDehydrated);

/** Presents the Cast object with its quoted casts; undefined for a cast that is not live. */
export function presentCast(hash: Hash, hydration: Hydration): Cast | undefined {
  const cast = hydration.casts.get(hash);
  return (
    cast && (dependsOnRead(cast, hydration) ? presentFor(cast, hydration) : presentKnown(cast, hydration))
  );
}

/**
 * Reports whether a cast is shown differently to another reader, or by another read of the same version: to a viewer; with a
 * preview, which changes without a commit; with the author's relation to the channel; or with a quote that quotes other
 * casts or is not in the index, because that shows what the read has loaded.
 */
function dependsOnRead({ hash, embeds }: CastState, hydration: Hydration): boolean {
  const { viewer, hidden, previews, authorRelations } = hydration;
  if (viewer || hidden || previews || authorRelations.has(hash)) return true;
  for (const embed of embeds) if ("hash" in embed && !isPlainQuote(embed.hash, hydration)) return true;
  return false;
}

function isPlainQuote(hash: Hash, { casts }: Hydration): boolean {
  const quoted = casts.get(hash);
  if (!quoted) return false;
  for (const embed of quoted.embeds) if ("hash" in embed) return false;
  return true;
}

const presentKnown = oncePerVersion((cast: CastState, hydration: Hydration) => presentFor(cast, hydration));

function presentFor(cast: CastState, hydration: Hydration): Cast | undefined {
  const { hash } = cast;
  const parts = partsOf(cast, hydration);
  if (!parts) return undefined;
  const quotes = cast.embeds.map((embed) => presentQuote(embed, hydration));
  const relation = hydration.authorRelations.get(hash);
  const author = relation && presentRelation(relation);
  const previews = previewsOf(cast, hydration);
  if (!hydration.viewer && !hydration.hidden)
    return presentMemoized(cast, ...parts, quotes, author, previews);
  const context = hydration.viewer?.casts.get(hash);
  return {
    ...presentState(cast, ...parts, quotes, author, previews),
    ...(context && { viewer_context: { liked: context.liked, recasted: context.recasted } }),
  };
}

function presentState(
  cast: CastState,
  author: User,
  mentioned: Mentioned<User>,
  channel: ChannelShown,
  quotes: readonly (Quote | HiddenQuote | undefined)[],
  authorContext: ReturnType<typeof presentRelation> | undefined,
  previews: EmbedPreviews,
) {
  const { text, ranges } = textWithNames(cast, mentioned);
  return {
    object: "cast" as const,
    ...commonFields(cast, text, channel),
    thread_hash: cast.threadHash,
    author,
    embeds: cast.embeds.map((embed, at) => quotes[at] ?? urlEmbed(embed, previews?.[at])),
    ...(cast.parent && { type: "cast-reply" as const }),
    reactions: { likes_count: cast.likes, recasts_count: cast.recasts, likes: [], recasts: [] },
    replies: { count: cast.replies },
    ...presentMentions(mentioned, ranges),
    ...(authorContext && { author_channel_context: authorContext }),
    mentioned_channels: [],
    mentioned_channels_ranges: [],
  };
}

const presentMemoized = memoizePresenter(presentState);

export type Cast = ReturnType<typeof presentState> & {
  viewer_context?: { liked: boolean; recasted: boolean };
};

/** Adds to the preview of a mini app what its domain says about it. */
const withApp = memoizePresenter(
  (metadata: PreviewMetadata, { manifest }: PreviewApp, author: User | undefined): PreviewMetadata => ({
    ...metadata,
    ...(metadata.frame && {
      frame: {
        ...metadata.frame,
        ...(author && { author }),
        ...(manifest && { manifest: presentManifest(manifest) }),
      },
    }),
  }),
);

function previewsOf({ embeds }: CastState, hydration: Hydration): EmbedPreviews {
  const { previews, apps } = hydration;
  return (
    previews &&
    embeds.map((embed) => {
      const metadata = "url" in embed ? previews.get(embed.url) : undefined;
      const app = metadata && "url" in embed ? apps.get(embed.url) : undefined;
      if (!app) return metadata;
      const { authorFid } = app;
      // The author without a viewer's context, which would otherwise become part of the memoized result.
      const author =
        authorFid === undefined ? undefined : presentUser(authorFid, { ...hydration, viewer: undefined });
      return metadata && withApp(metadata, app, author);
    })
  );
}

/** Presents the live casts among `hashes`, in the order of `hashes`. */
function presentCasts(hashes: readonly Hash[], hydration: Hydration): Cast[] {
  return hashes.flatMap((hash) => presentCast(hash, hydration) ?? []);
}

/** Presents a cast with only its hash and author; undefined for a cast that is not live. */
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
 * Presents a URL, or a quoted cast that is not in the index or whose author differs from the one in the embed. Such a cast
 * becomes the URL under which clients show it, because typed clients expect a cast in every embed that is not a URL.
 */
function urlEmbed(embed: StoredEmbed, preview: PreviewMetadata | undefined) {
  return "url" in embed
    ? presentUrl(embed.url, preview)
    : { url: `https://farcaster.xyz/~/conversations/${embed.hash}` };
}

/** Presents the quoted cast of an embed; undefined for other embeds and for casts that `urlEmbed` presents. */
function presentQuote(embed: StoredEmbed, hydration: Hydration): Quote | HiddenQuote | undefined {
  const quoted = quotedCast(embed, hydration);
  const hidden = quoted && hydration.hidden?.get(quoted.fid);
  if (hidden) return hiddenQuote(quoted, hidden);
  const parts = quoted && quotePartsOf(quoted, hydration);
  if (!parts) return undefined;
  // A cast quoted by a quoted cast is dehydrated, or a URL if it was not loaded.
  const deeper = quoted.embeds.map((inner) => {
    const cast = quotedCast(inner, hydration);
    if (!cast) return undefined;
    const reason = hydration.hidden?.get(cast.fid);
    return reason ? hiddenCastDehydrated(cast, reason) : presentCastDehydrated(cast.hash, hydration);
  });
  const present = hydration.viewer || hydration.hidden ? quoteEmbed : presentMemoizedQuote;
  return present(quoted, ...parts, deeper, previewsOf(quoted, hydration));
}

function quoteEmbed(
  cast: CastState,
  author: UserDehydrated,
  mentioned: Mentioned<UserDehydrated>,
  channel: ChannelShown,
  deeper: readonly (CastDehydrated | ReturnType<typeof hiddenCastDehydrated> | undefined)[],
  previews: EmbedPreviews,
) {
  const { text } = textWithNames(cast, mentioned);
  const embeds = cast.embeds.map((embed, at) => {
    const quoted = deeper[at];
    return quoted && "hash" in embed
      ? { cast_id: { fid: embed.fid, hash: embed.hash }, cast: quoted }
      : urlEmbed(embed, previews?.[at]);
  });
  return {
    cast_id: { fid: cast.fid, hash: cast.hash },
    cast: { ...commonFields(cast, text, channel), author, embeds },
  };
}

type Quote = ReturnType<typeof quoteEmbed>;

/** Why the author of a quoted cast is not shown. The direction of a block does not matter here. */
const HIDDEN_WORDS = {
  banned: "banned",
  blocking: "blocked",
  blockedBy: "blocked",
  muting: "muted",
} as const satisfies Readonly<Record<HiddenReason, string>>;

const bareAuthor = ({ fid }: CastState): BareUser => ({ object: "user_dehydrated", fid });

/**
 * Presents a quote of an account that is hidden from the reader: the fields that typed clients expect, without the content.
 */
function hiddenQuote(cast: CastState, reason: HiddenReason) {
  return {
    cast_id: { fid: cast.fid, hash: cast.hash },
    cast: {
      hash: cast.hash,
      parent_hash: null,
      parent_url: null,
      root_parent_url: null,
      parent_author: { fid: null },
      text: "",
      timestamp: isoTime(cast.timestamp),
      channel: null,
      app: null,
      author: bareAuthor(cast),
      embeds: [],
      hidden: HIDDEN_WORDS[reason],
    },
  };
}

type HiddenQuote = ReturnType<typeof hiddenQuote>;

function hiddenCastDehydrated(cast: CastState, reason: HiddenReason) {
  const hidden = HIDDEN_WORDS[reason];
  return { object: "cast_dehydrated" as const, hash: cast.hash, author: bareAuthor(cast), app: null, hidden };
}

const presentMemoizedQuote = memoizePresenter(quoteEmbed);

function quotedCast(embed: StoredEmbed, { casts }: Hydration): CastState | undefined {
  const cast = "hash" in embed ? casts.get(embed.hash) : undefined;
  return cast && "fid" in embed && cast.fid === embed.fid ? cast : undefined;
}

/** Presents the casts of a list of hashes. */
export function presentBulkCasts(hashes: readonly Hash[], hydration: Hydration) {
  return { result: { casts: presentCasts(hashes, hydration) } };
}

/** Presents a page of found casts. */
export function presentCastSearch({ rows, cursor }: Page<{ readonly hash: Hash }>, hydration: Hydration) {
  const hashes = rows.map(({ hash }) => hash);
  return { result: { casts: presentCasts(hashes, hydration), next: { cursor } } };
}

const keys = {
  trending: ({ likes, recasts, replies }: CastState) => likes + 2 * recasts + 3 * replies,
  likes: ({ likes }: CastState) => likes,
  recasts: ({ recasts }: CastState) => recasts,
  replies: ({ replies }: CastState) => replies,
  recent: ({ timestamp }: CastState) => timestamp,
} as const;

/** The sort keys of a list of casts, in descending order. */
type CastSort = keyof typeof keys;

export const CAST_SORTS = Object.keys(keys) as CastSort[];

/** Sorts the hashes of the live casts. The sort is stable. */
export function sortCasts(hashes: readonly Hash[], sort: CastSort, hydration: Hydration): Hash[] {
  const keyOf = keys[sort];
  return hashes
    .flatMap((hash) => hydration.casts.get(hash) ?? [])
    .sort((a, b) => keyOf(b) - keyOf(a))
    .map(({ hash }) => hash);
}
