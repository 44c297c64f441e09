import { Elysia } from "elysia";
import { fid, limit } from "../../../http/params.ts";
import { popularCasts } from "../../../read/queries/feeds/popular-casts.ts";
import { respondWithCastPage } from "../../shared/cast-page.ts";
import type { ReadDeps } from "../../shared/dialect.ts";

const MAX_POPULAR = 10;

/** `/feed/user/popular`. */
export function popularFeedRoutes({ reads, describe }: ReadDeps) {
  return new Elysia({ name: "popular-feeds" }).get(
    "/feed/user/popular",
    ({ query }) => {
      const top = Math.min(query.limit, MAX_POPULAR);
      return respondWithCastPage(reads, query, (db) => ({
        rows: popularCasts(db, { fid: query.fid, limit: top }),
        cursor: null,
      }));
    },
    describe({
      cache: "shared",
      operationId: "getFeedUserPopular",
      summary: "The casts of a user with the most likes, recasts and replies",
      description: `At most ${MAX_POPULAR}, over all live casts of the user; there is only one page.`,
      tags: ["Feeds"],
      query: { fid: fid(), limit: limit() },
      response: "castPage",
    }),
  );
}
