import { Elysia } from "elysia";
import { aliasOf } from "../../../http/operation.ts";
import { cursor, limit, textList } from "../../../http/params.ts";
import {
  channelFeed,
  channelFeedCursor,
  parentUrlFeed,
  parentUrlFeedCursor,
} from "../../../read/queries/feeds/parent-url-feed.ts";
import { respondWithCastPage } from "../../shared/cast-page.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import type { ReadDeps } from "../../shared/dialect.ts";
import { respondWithTrending, TRENDING } from "./trending.ts";

const tags = ["Feeds"];

/** `/feed/channels`, `/feed/parent_urls`, and other names of the trending feed. */
export function feedRoutes({ reads, describe }: ReadDeps) {
  const trendingHook = describe({
    cache: "shared",
    operationId: "getFeedForYou",
    summary: "The trending feed under another name",
    description: TRENDING,
    tags,
    query: { limit: limit(), cursor: cursor() },
    response: "castPage",
  });
  return new Elysia({ name: "feeds" })
    .get("/feed/for_you", ({ query }) => respondWithTrending(reads, query), trendingHook)
    .get(
      "/feed/topic",
      ({ query }) => respondWithTrending(reads, query),
      aliasOf("/feed/for_you", trendingHook),
    )
    .get(
      "/feed/channels",
      ({ query }) => {
        const after = decodeCursor(channelFeedCursor, query.cursor);
        const { channel_ids: channels } = query;
        return respondWithCastPage(reads, query, (db) =>
          channelFeed(db, { channels, limit: query.limit, after }),
        );
      },
      describe({
        cache: "shared",
        operationId: "getFeedChannels",
        summary: "Casts directly in any of the channels, newest first",
        tags,
        query: {
          channel_ids: textList({
            maxItems: reads.maxIds,
            description: "Channel ids or parent URLs; a URL stands for its whole channel",
          }),
          limit: limit(),
          cursor: cursor(),
        },
        response: "castPage",
      }),
    )
    .get(
      "/feed/parent_urls",
      ({ query }) => {
        const after = decodeCursor(parentUrlFeedCursor, query.cursor);
        const { parent_urls: urls } = query;
        return respondWithCastPage(reads, query, (db) =>
          parentUrlFeed(db, { urls, limit: query.limit, after }),
        );
      },
      describe({
        cache: "shared",
        operationId: "getFeedParentUrls",
        summary: "Casts directly under any of the URLs, newest first",
        tags,
        query: {
          parent_urls: textList({ maxItems: reads.maxIds, description: "Exact parent URLs" }),
          limit: limit(),
          cursor: cursor(),
        },
        response: "castPage",
      }),
    );
}
