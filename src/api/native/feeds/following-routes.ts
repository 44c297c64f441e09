import { Elysia } from "elysia";
import { ApiError } from "../../../http/errors.ts";
import { choice, cursor, fid, limit, optional } from "../../../http/params.ts";
import { followingFeed, followingFeedCursor } from "../../../read/queries/feeds/following-feed.ts";
import { respondWithCastPage } from "../../shared/cast-page.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import type { ReadDeps, Viewer } from "../../shared/dialect.ts";
import { respondWithTrending, TRENDING } from "./trending.ts";

const tags = ["Feeds"];

interface FollowingQuery extends Viewer {
  readonly fid: number;
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** `/feed`, `/feed/following` and `/feed/trending`. */
export function followingFeedRoutes({ reads, describe }: ReadDeps) {
  const following = (query: FollowingQuery) => {
    const after = decodeCursor(followingFeedCursor, query.cursor);
    const { fid, limit } = query;
    return respondWithCastPage(reads, query, (db) => followingFeed(db, { fid, limit, after }));
  };
  return new Elysia({ name: "following-feeds" })
    .get(
      "/feed",
      ({ query }) => {
        if (query.feed_type === "trending") return respondWithTrending(reads, query);
        if (query.fid === undefined) throw new ApiError("badRequest", "missing query parameter fid");
        return following({ ...query, fid: query.fid });
      },
      describe({
        cache: "shared",
        operationId: "getFeed",
        summary: "The following feed of a user, or the trending feed",
        tags,
        query: {
          feed_type: optional(choice(["following", "trending"]), "following"),
          fid: optional(fid({ description: "Required for the following feed" })),
          limit: limit(),
          cursor: cursor(),
        },
        response: "castPage",
      }),
    )
    .get(
      "/feed/following",
      ({ query }) => following(query),
      describe({
        cache: "shared",
        operationId: "getFeedFollowing",
        summary: "Casts and replies of the users that a user follows, newest first",
        tags,
        query: { fid: fid(), limit: limit(), cursor: cursor() },
        response: "castPage",
      }),
    )
    .get(
      "/feed/trending",
      ({ query }) => respondWithTrending(reads, query),
      describe({
        cache: "shared",
        operationId: "getFeedTrending",
        summary: "Casts with the most engagement now",
        description: TRENDING,
        tags,
        query: { limit: limit(), cursor: cursor() },
        response: "castPage",
      }),
    );
}
