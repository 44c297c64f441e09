import { Elysia } from "elysia";
import { ApiError } from "../../http/errors.ts";
import { operation } from "../../http/operation.ts";
import { choice, cursor, fid, limit, optional, textList } from "../../http/params.ts";
import type { Reads } from "../../read/answers.ts";
import { hex } from "../../read/hydrate/casts.ts";
import { followingFeed, followingFeedCursor } from "../../read/skeleton/following-feed.ts";
import {
  channelFeed,
  channelFeedCursor,
  parentUrlFeed,
  parentUrlFeedCursor,
} from "../../read/skeleton/parent-url-feed.ts";
import { rankingCursors, rankingPage } from "../../read/skeleton/ranking.ts";
import { answerCastPage } from "../cast-page.ts";
import { decodeCursor } from "../cursor-param.ts";
import { CastPageResponse } from "../objects.ts";

const tags = ["Feeds"];

const TRENDING =
  "By likes, recasts and replies against age, over a rolling window. The ranking is refreshed every minute; a walk by " +
  "cursor stays in the one in which it began.";

interface PageQuery {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** `/feed`, `/feed/following`, `/feed/channels`, `/feed/parent_urls`, and the four names of the trending feed. */
export function feedRoutes(reads: Reads) {
  const following = (query: PageQuery & { readonly fid: number }) => {
    const after = decodeCursor(followingFeedCursor, query.cursor);
    return answerCastPage(reads, (db) => followingFeed(db, { fid: query.fid, limit: query.limit, after }));
  };
  const trending = (query: PageQuery) => {
    const after = decodeCursor(rankingCursors.casts, query.cursor);
    return answerCastPage(reads, (db) => {
      const page = rankingPage(db, { kind: "casts", limit: query.limit, after });
      return { rows: page.rows.map(({ ref }) => ({ hash: hex(ref) })), cursor: page.cursor };
    });
  };
  return new Elysia({ name: "feeds" })
    .get(
      "/feed",
      ({ query }) => {
        if (query.feed_type === "trending") return trending(query);
        if (query.fid === undefined) throw new ApiError("badRequest", "missing query parameter fid");
        return following({ ...query, fid: query.fid });
      },
      operation({
        operationId: "getFeed",
        summary: "The following feed of a user, or the trending feed",
        tags,
        query: {
          feed_type: optional(choice(["following", "trending"]), "following"),
          fid: optional(fid({ description: "Required for the following feed" })),
          limit: limit(),
          cursor: cursor(),
        },
        response: CastPageResponse,
      }),
    )
    .get(
      "/feed/following",
      ({ query }) => following(query),
      operation({
        operationId: "getFeedFollowing",
        summary: "Casts of those whom a user follows, replies too, newest first",
        tags,
        query: { fid: fid(), limit: limit(), cursor: cursor() },
        response: CastPageResponse,
      }),
    )
    .get(
      "/feed/trending",
      ({ query }) => trending(query),
      operation({
        operationId: "getFeedTrending",
        summary: "Casts that get the most attention now",
        description: TRENDING,
        tags,
        query: { limit: limit(), cursor: cursor() },
        response: CastPageResponse,
      }),
    )
    .get(
      "/feed/for_you",
      ({ query }) => trending(query),
      operation({
        operationId: "getFeedForYou",
        summary: "The trending feed under another name",
        description: TRENDING,
        tags,
        query: { limit: limit(), cursor: cursor() },
        response: CastPageResponse,
      }),
    )
    .get(
      "/feed/topic",
      ({ query }) => trending(query),
      operation({
        operationId: "getFeedTopic",
        summary: "The trending feed under another name",
        description: TRENDING,
        tags,
        query: { limit: limit(), cursor: cursor() },
        response: CastPageResponse,
      }),
    )
    .get(
      "/feed/channels",
      ({ query }) => {
        const after = decodeCursor(channelFeedCursor, query.cursor);
        const { channel_ids: channels } = query;
        return answerCastPage(reads, (db) => channelFeed(db, { channels, limit: query.limit, after }));
      },
      operation({
        operationId: "getFeedChannels",
        summary: "Casts directly in any of the channels, newest first",
        tags,
        query: {
          channel_ids: textList({
            maxItems: reads.maxIds,
            description: "Channel ids, or parent URLs, each of which means its whole channel",
          }),
          limit: limit(),
          cursor: cursor(),
        },
        response: CastPageResponse,
      }),
    )
    .get(
      "/feed/parent_urls",
      ({ query }) => {
        const after = decodeCursor(parentUrlFeedCursor, query.cursor);
        const { parent_urls: urls } = query;
        return answerCastPage(reads, (db) => parentUrlFeed(db, { urls, limit: query.limit, after }));
      },
      operation({
        operationId: "getFeedParentUrls",
        summary: "Casts directly under any of the URLs, newest first",
        tags,
        query: {
          parent_urls: textList({ maxItems: reads.maxIds, description: "Parent URLs as they are" }),
          limit: limit(),
          cursor: cursor(),
        },
        response: CastPageResponse,
      }),
    );
}
