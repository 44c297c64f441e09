import { Elysia } from "elysia";
import type { IndexDatabase } from "../../db/index/database.ts";
import { ApiError } from "../../http/errors.ts";
import { operation } from "../../http/operation.ts";
import { choice, cursor, fid, fidList, optional, text } from "../../http/params.ts";
import { flag } from "../../http/word-params.ts";
import { parentUrlFilter } from "../../read/queries/channels/channels.ts";
import { authorsFeed } from "../../read/queries/feeds/authors-feed.ts";
import { embedUrlFeed, embedUrlFeedCursor, MAX_URLS } from "../../read/queries/feeds/embed-url-feed.ts";
import { followedRoots, MAX_FOLLOWS_WITH_RECASTS } from "../../read/queries/feeds/followed-roots.ts";
import { followingFeed, followingFeedCursor } from "../../read/queries/feeds/following-feed.ts";
import {
  channelFeed,
  channelFeedCursor,
  parentUrlFeed,
  parentUrlFeedCursor,
} from "../../read/queries/feeds/parent-url-feed.ts";
import { timedCursor } from "../../read/queries/feeds/time-order.ts";
import type { Reads } from "../../read/run-query.ts";
import { respondWithTrending, TRENDING } from "../native/feeds/trending.ts";
import { respondWithCastPage } from "../shared/cast-page.ts";
import { decodeCursor } from "../shared/cursor-param.ts";
import type { Viewer } from "../shared/dialect.ts";
import { pageLimit, viewerFid } from "./dialect.ts";
import { CastPageResponse } from "./response-schemas.ts";

const tags = ["Feeds"];

/** Maximum number of authors in a request. */
const MAX_AUTHORS = 100;

const FILTERS = ["fids", "parent_url", "channel_id", "embed_url", "embed_types", "global_trending"] as const;

const NO_EMBED_TYPES = "what embedded URLs lead to is not known here";

const authorsFeedCursor = timedCursor("feed by fids");

interface FeedQuery extends Viewer {
  readonly limit: number;
  readonly cursor: string | undefined;
  readonly with_recasts: boolean;
}

/** `/feed`, `/feed/following` and `/feed/trending`. */
export function filterFeedRoutes(reads: Reads) {
  const following = (query: FeedQuery & { readonly fid: number; readonly with_replies: boolean }) => {
    const after = decodeCursor(followingFeedCursor, query.cursor);
    const { fid, limit, with_replies: withReplies, with_recasts: withRecasts } = query;
    return respondWithCastPage(reads, query, (db) =>
      withReplies
        ? followingFeed(db, { fid, limit, after })
        : followedRoots(db, { fid, limit, after, withRecasts }),
    );
  };
  const filtered = (
    query: FeedQuery & {
      readonly filter_type: (typeof FILTERS)[number] | undefined;
      readonly fids: readonly number[] | undefined;
      readonly parent_url: string | undefined;
      readonly channel_id: string | undefined;
      readonly embed_url: string | undefined;
    },
  ) => {
    const { limit } = query;
    switch (query.filter_type) {
      case "fids": {
        const fids = required(query.fids, "fids");
        const after = decodeCursor(authorsFeedCursor, query.cursor);
        const streams = query.with_recasts ? (["roots", "recasts"] as const) : (["roots"] as const);
        return respondWithCastPage(reads, query, (db) =>
          authorsFeed(db, { authors: { fids }, streams, limit, after, cursor: authorsFeedCursor }),
        );
      }
      case "parent_url": {
        const urls = [required(query.parent_url, "parent_url")];
        const after = decodeCursor(parentUrlFeedCursor, query.cursor);
        return respondWithCastPage(reads, query, (db) => parentUrlFeed(db, { urls, limit, after }));
      }
      case "channel_id": {
        const channels = [required(query.channel_id, "channel_id")];
        const after = decodeCursor(channelFeedCursor, query.cursor);
        return respondWithCastPage(reads, query, (db) => channelFeed(db, { channels, limit, after }));
      }
      case "global_trending":
        return respondWithTrending(reads, query);
      case "embed_url": {
        const url = required(query.embed_url, "embed_url");
        const prefix = /^[a-z][a-z0-9+.-]*:/i.test(url) ? url : `https://${url}`;
        const after = decodeCursor(embedUrlFeedCursor, query.cursor);
        return respondWithCastPage(reads, query, (db) => embedUrlFeed(db, { prefix, limit, after }));
      }
      case "embed_types":
        throw new ApiError("notImplemented", NO_EMBED_TYPES);
      case undefined:
        throw new ApiError("badRequest", "missing query parameter filter_type");
    }
  };
  const withRecasts = () =>
    flag(true, { description: "Include casts that the authors recasted, at the time of the recast" });
  const withReplies = () => flag(false, { description: "Include replies; recasts are then excluded" });
  const page = () => ({ limit: pageLimit(), cursor: cursor(), viewer_fid: viewerFid() });
  return new Elysia({ name: "farcaster-feeds" })
    .get(
      "/feed",
      ({ query }) => {
        if (query.feed_type === "trending") return respondWithTrending(reads, query);
        if (query.feed_type === "filter") return filtered(query);
        return following({ ...query, fid: required(query.fid, "fid") });
      },
      operation({
        cache: "shared",
        operationId: "getFeed",
        summary: "The following feed of a user, the casts that match a filter, or the trending feed",
        tags,
        query: {
          feed_type: optional(choice(["following", "filter", "trending"]), "following"),
          filter_type: optional(
            choice(FILTERS, {
              description: "With feed type `filter`; `embed_types` is not implemented",
            }),
          ),
          fid: optional(fid({ description: "Required for the following feed" })),
          fids: optional(
            fidList({ maxItems: MAX_AUTHORS, description: "Authors; their replies are excluded" }),
          ),
          parent_url: optional(text({ description: "Casts directly under this URL" })),
          channel_id: optional(text({ description: "Casts directly in this channel" })),
          embed_url: optional(
            text({
              description: `Prefix of an embedded URL; limited to the first ${MAX_URLS} matching URLs in alphabetical order`,
            }),
          ),
          with_recasts: withRecasts(),
          with_replies: withReplies(),
          ...page(),
        },
        response: CastPageResponse,
        notImplemented: {
          when: "With `filter_type` `embed_types`: the service fetches no embedded URL.",
          message: NO_EMBED_TYPES,
        },
      }),
    )
    .get(
      "/feed/following",
      ({ query }) => following(query),
      operation({
        cache: "shared",
        operationId: "getFeedFollowing",
        summary: "Casts of the users that a user follows, newest first",
        description:
          `Recasts are excluded for a user who follows more than ${MAX_FOLLOWS_WITH_RECASTS} users. A cast that ` +
          "several of them recasted appears at the time of the latest recast.",
        tags,
        query: { fid: fid(), with_recasts: withRecasts(), with_replies: withReplies(), ...page() },
        response: CastPageResponse,
      }),
    )
    .get(
      "/feed/trending",
      ({ query }) => {
        const { parent_url: parentUrl, channel_id: channelId } = query;
        const isFiltered = parentUrl !== undefined || channelId !== undefined;
        const urlsOf = (db: IndexDatabase) => parentUrlFilter(db, { parentUrl, channelId }) ?? [];
        return respondWithTrending(reads, query, isFiltered ? urlsOf : undefined);
      },
      operation({
        cache: "shared",
        operationId: "getFeedTrending",
        summary: "Casts with the most engagement now, of the whole network or of one channel or URL",
        description: TRENDING,
        tags,
        query: {
          parent_url: optional(text({ description: "Only casts directly under this URL" })),
          channel_id: optional(text({ description: "Only casts directly in this channel" })),
          ...page(),
        },
        response: CastPageResponse,
      }),
    );
}

function required<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new ApiError("badRequest", `missing query parameter ${name}`);
  return value;
}
