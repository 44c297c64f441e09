import { Elysia } from "elysia";
import { cursor, limit } from "../../../http/params.ts";
import { rankedChannels } from "../../../read/queries/feeds/ranking.ts";
import { rankingCursors } from "../../../read/queries/feeds/ranking-cursor.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import type { ReadDeps } from "../../shared/dialect.ts";
import { respondWithChannelPage } from "./channel-page.ts";

/** `/channel/trending`. */
export function trendingChannelRoutes({ reads, describe }: ReadDeps) {
  return new Elysia({ name: "trending-channels" }).get(
    "/channel/trending",
    ({ query }) => {
      const after = decodeCursor(rankingCursors.channels, query.cursor);
      return respondWithChannelPage(reads, query, (db) => rankedChannels(db, { limit: query.limit, after }));
    },
    describe({
      cache: "shared",
      operationId: "getTrendingChannels",
      summary: "Channels ranked by active users and engagement of the last day",
      description: "The ranking is computed in the background; all pages of a cursor belong to one ranking.",
      tags: ["Channels"],
      query: { limit: limit(), cursor: cursor() },
      response: "channelPage",
    }),
  );
}
