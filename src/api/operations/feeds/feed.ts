import { ApiError } from "../../../http/errors.ts";
import { perRows } from "../../../http/limits/prices.ts";
import { choice, fid, fidList, optional, text, textList } from "../../../http/request/params.ts";
import { listOf } from "../../../read/cursor.ts";
import { authorsFeed, type Stream } from "../../../read/queries/feeds/authors-feed.ts";
import { channelFeed, embedUrlFeed, MAX_URLS, parentUrlFeed } from "../../../read/queries/feeds/url-feeds.ts";
import { timedCursor } from "../../../read/queries/ordered-page.ts";
import type { Reads } from "../../../read/run-query.ts";
import { CompatCastPage, compatPage } from "../../dialects/compat.ts";
import { page } from "../../dialects/native.ts";
import { type PageQuery, respondWithCastPage } from "../../respond.ts";
import { topic } from "../../topic.ts";
import { HIDDEN, type ModerationQuery, moderationParams, rulesOf } from "../channels/moderation-params.ts";
import { respondWithCompatFollowing, respondWithFollowing, withRecasts, withReplies } from "./following.ts";
import { respondWithTrending } from "./trending.ts";

const { read } = topic({ tag: "Feeds", price: perRows(5) });

const channelIds = ({ maxIds }: Reads) =>
  textList({
    maxItems: maxIds,
    description: "Channel ids or parent URLs; a URL stands for its whole channel",
  });

export const channelFeedOperations = [
  read({
    id: "getFeedChannels",
    surface: "native",
    path: "/feed/channels",
    summary: "Casts directly in any of the channels, newest first",
    description: "Also casts that a moderator has hidden; `/channel/feed` leaves them out.",
    query: ({ reads }) => ({ channel_ids: channelIds(reads), ...page() }),
    response: "castPage",
    run: ({ reads }, { query }) => {
      const { channel_ids: channels } = query;
      return respondWithCastPage(reads, query, channelFeed, { channels });
    },
  }),
  read({
    id: "getFeedChannels",
    surface: "compat",
    path: "/feed/channels",
    summary: "Casts directly in any of the channels, newest first",
    description: HIDDEN,
    query: ({ reads }) => ({ channel_ids: channelIds(reads), ...moderationParams(), ...compatPage() }),
    response: CompatCastPage,
    run: ({ reads }, { query }) => {
      const { channel_ids: channels } = query;
      return respondWithCastPage(reads, query, channelFeed, { channels, rules: rulesOf(query) });
    },
  }),
  read({
    id: "getFeedParentUrls",
    path: "/feed/parent_urls",
    summary: "Casts directly under any of the URLs, newest first",
    query: ({ reads }) => ({
      parent_urls: textList({ maxItems: reads.maxIds, description: "Exact parent URLs" }),
      ...page(),
    }),
    response: "castPage",
    run: ({ reads }, { query }) => {
      const { parent_urls: urls } = query;
      return respondWithCastPage(reads, query, parentUrlFeed, { urls });
    },
  }),
];

/** Maximum number of authors in a request. */
const MAX_AUTHORS = 100;

const FILTERS = ["fids", "parent_url", "channel_id", "embed_url", "embed_types", "global_trending"] as const;

const NO_EMBED_TYPES = "what embedded URLs lead to is not known here";

const castsOfAuthors = listOf(
  timedCursor("feed by fids"),
  (
    db,
    query: { readonly authors: { readonly fids: readonly number[] }; readonly streams: readonly Stream[] },
    page,
  ) => authorsFeed(db, { ...query, ...page }),
);

export const feedOperations = [
  read({
    id: "getFeed",
    surface: "native",
    path: "/feed",
    summary: "The following feed of a user, or the trending feed",
    query: {
      feed_type: optional(choice(["following", "trending"]), "following"),
      fid: optional(fid({ description: "Required for the following feed" })),
      ...page(),
    },
    response: "castPage",
    run: ({ reads }, { query }) => {
      if (query.feed_type === "trending") return respondWithTrending(reads, query);
      if (query.fid === undefined) throw new ApiError("badRequest", "missing query parameter fid");
      return respondWithFollowing(reads, { ...query, fid: query.fid });
    },
  }),
  read({
    id: "getFeed",
    surface: "compat",
    path: "/feed",
    summary: "The following feed of a user, the casts that match a filter, or the trending feed",
    query: {
      feed_type: optional(choice(["following", "filter", "trending"]), "following"),
      filter_type: optional(
        choice(FILTERS, {
          description: "With feed type `filter`; `embed_types` is not implemented",
        }),
      ),
      fid: optional(fid({ description: "Required for the following feed" })),
      fids: optional(fidList({ maxItems: MAX_AUTHORS, description: "Authors; their replies are excluded" })),
      parent_url: optional(text({ description: "Casts directly under this URL" })),
      channel_id: optional(text({ description: "Casts directly in this channel" })),
      ...moderationParams(),
      embed_url: optional(
        text({
          description: `Prefix of an embedded URL; limited to the first ${MAX_URLS} matching URLs in alphabetical order`,
        }),
      ),
      with_recasts: withRecasts(),
      with_replies: withReplies(),
      ...compatPage(),
    },
    response: CompatCastPage,
    notImplemented: {
      when: "With `filter_type` `embed_types`: the service fetches no embedded URL.",
      message: NO_EMBED_TYPES,
    },
    run: ({ reads }, { query }) => {
      if (query.feed_type === "trending") return respondWithTrending(reads, query);
      if (query.feed_type === "filter") return respondWithFiltered(reads, query);
      return respondWithCompatFollowing(reads, { ...query, fid: required(query.fid, "fid") });
    },
  }),
];

function respondWithFiltered(
  reads: Reads,
  query: PageQuery & {
    readonly with_recasts: boolean;
    readonly filter_type: (typeof FILTERS)[number] | undefined;
    readonly fids: readonly number[] | undefined;
    readonly parent_url: string | undefined;
    readonly channel_id: string | undefined;
    readonly embed_url: string | undefined;
  } & ModerationQuery,
) {
  switch (query.filter_type) {
    case "fids": {
      const fids = required(query.fids, "fids");
      const streams = query.with_recasts ? (["roots", "recasts"] as const) : (["roots"] as const);
      return respondWithCastPage(reads, query, castsOfAuthors, { authors: { fids }, streams });
    }
    case "parent_url": {
      const urls = [required(query.parent_url, "parent_url")];
      return respondWithCastPage(reads, query, parentUrlFeed, { urls });
    }
    case "channel_id": {
      const channels = [required(query.channel_id, "channel_id")];
      return respondWithCastPage(reads, query, channelFeed, { channels, rules: rulesOf(query) });
    }
    case "global_trending":
      return respondWithTrending(reads, query);
    case "embed_url": {
      const url = required(query.embed_url, "embed_url");
      const prefix = /^[a-z][a-z0-9+.-]*:/i.test(url) ? url : `https://${url}`;
      return respondWithCastPage(reads, query, embedUrlFeed, { prefix });
    }
    case "embed_types":
      throw new ApiError("notImplemented", NO_EMBED_TYPES);
    case undefined:
      throw new ApiError("badRequest", "missing query parameter filter_type");
  }
}

function required<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new ApiError("badRequest", `missing query parameter ${name}`);
  return value;
}
