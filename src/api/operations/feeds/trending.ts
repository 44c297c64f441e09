import { perRows } from "../../../http/limits/prices.ts";
import { optional, text } from "../../../http/request/params.ts";
import { listOf } from "../../../read/cursor.ts";
import { rankedCasts, rankedCastsUnder, rankingCursors } from "../../../read/queries/feeds/ranking.ts";
import type { Reads } from "../../../read/run-query.ts";
import { CompatCastPage, compatPage } from "../../dialects/compat.ts";
import { page } from "../../dialects/native.ts";
import { type PageQuery, respondWithCastPage } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { read } = topic({ tag: "Feeds", price: perRows(5) });

export const TRENDING =
  "Ranked by likes, recasts and replies relative to age, over a rolling window. The ranking is refreshed every minute; all pages " +
  "of a cursor belong to one ranking.";

export const trendingFeedOperations = [
  read({
    id: "getFeedTrending",
    surface: "native",
    path: "/feed/trending",
    summary: "Casts with the most engagement now",
    description: TRENDING,
    query: page(),
    response: "castPage",
    run: ({ reads }, { query }) => respondWithTrending(reads, query),
  }),
  read({
    id: "getFeedTrending",
    surface: "compat",
    path: "/feed/trending",
    summary: "Casts with the most engagement now, of the whole network or of one channel or URL",
    description: TRENDING,
    query: {
      parent_url: optional(text({ description: "Only casts directly under this URL" })),
      channel_id: optional(text({ description: "Only casts directly in this channel" })),
      ...compatPage(),
    },
    response: CompatCastPage,
    run: ({ reads }, { query }) => {
      const { parent_url: parentUrl, channel_id: channelId } = query;
      const isFiltered = parentUrl !== undefined || channelId !== undefined;
      return respondWithTrending(reads, query, isFiltered ? { parentUrl, channelId } : undefined);
    },
  }),
  read({
    id: "getFeedForYou",
    surface: "native",
    path: "/feed/for_you",
    aliases: { native: ["/feed/topic"] },
    summary: "The trending feed under another name",
    description: TRENDING,
    query: page(),
    response: "castPage",
    run: ({ reads }, { query }) => respondWithTrending(reads, query),
  }),
];

/**
 * Responds with a page of the trending feed.
 * @param place where the casts are. Default: all casts
 */
export function respondWithTrending(
  reads: Reads,
  query: PageQuery,
  place?: { readonly parentUrl: string | undefined; readonly channelId: string | undefined },
): object {
  const list = listOf(rankingCursors.casts, (db, _: object, page) =>
    place ? rankedCastsUnder(db, { ...place, ...page }) : rankedCasts(db, page),
  );
  return respondWithCastPage(reads, query, list, {});
}
