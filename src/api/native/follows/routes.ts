import { Elysia } from "elysia";
import { aliasOf } from "../../../http/operation.ts";
import { cursor, fid, limit } from "../../../http/params.ts";
import {
  followers,
  followersCursor,
  linkTargets,
  mutualFollows,
  mutualFollowsCursor,
  targetCursors,
} from "../../../read/queries/users/links.ts";
import {
  MAX_LINKS,
  MAX_SOURCES,
  suggestedFollows,
  suggestedFollowsCursor,
} from "../../../read/queries/users/suggested-follows.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import type { ReadDeps, ResponseName, Viewer } from "../../shared/dialect.ts";
import { respondWithUserPage } from "../../shared/user-page.ts";

interface Context {
  readonly query: Viewer & {
    readonly fid: number;
    readonly limit: number;
    readonly cursor: string | undefined;
  };
}

/** Followers, followed users, mutual follows and suggestions, with all their aliases. */
export function followRoutes({ reads, describe }: ReadDeps) {
  const userPage = (response: ResponseName, operationId: string, summary: string, description?: string) =>
    describe({
      cache: "shared",
      operationId,
      summary,
      ...(description === undefined ? {} : { description }),
      tags: ["Follows"],
      query: { fid: fid(), limit: limit(), cursor: cursor() },
      response,
    });

  const listFollowers = ({ query }: Context) => {
    const after = decodeCursor(followersCursor, query.cursor);
    return respondWithUserPage(
      reads,
      query,
      (db) => followers(db, { fid: query.fid, limit: query.limit, after }),
      reads.present.followerPage,
    );
  };
  const listFollowing = ({ query }: Context) => {
    const after = decodeCursor(targetCursors.follow, query.cursor);
    return respondWithUserPage(
      reads,
      query,
      (db) => linkTargets(db, "follow", { fid: query.fid, limit: query.limit, after }),
      reads.present.followerPage,
    );
  };
  const listMutual = ({ query }: Context) => {
    const after = decodeCursor(mutualFollowsCursor, query.cursor);
    return respondWithUserPage(
      reads,
      query,
      (db) => mutualFollows(db, { fid: query.fid, limit: query.limit, after }),
      reads.present.mutualFollowPage,
    );
  };
  const listSuggested = ({ query }: Context) => {
    const after = decodeCursor(suggestedFollowsCursor, query.cursor);
    return respondWithUserPage(reads, query, (db) =>
      suggestedFollows(db, { fid: query.fid, limit: query.limit, after }),
    );
  };

  const followersHook = userPage("followerPage", "getFollowers", "Followers of a user, newest follow first");
  const followingHook = userPage(
    "followerPage",
    "getFollowing",
    "Users that a user follows, newest follow first",
  );
  return new Elysia({ name: "follows" })
    .get("/user/followers", listFollowers, followersHook)
    .get("/followers", listFollowers, aliasOf("/user/followers", followersHook))
    .get("/user/following", listFollowing, followingHook)
    .get("/following", listFollowing, aliasOf("/user/following", followingHook))
    .get("/follows", listFollowing, aliasOf("/user/following", followingHook))
    .get(
      "/followers/reciprocal",
      listMutual,
      userPage("mutualFollowPage", "getReciprocalFollowers", "Mutual follows of a user, newest first"),
    )
    .get(
      "/following/suggested",
      listSuggested,
      userPage(
        "userPage",
        "getSuggestedFollows",
        "Follow suggestions for a user: friends of friends",
        "Ordered by the number of the user's follows that follow the candidate, then by number of followers, then by " +
          "fid. Excludes the user and the users that they follow, block or mute. Counts the newest " +
          `${MAX_SOURCES} follows, and at most as many as follow ${MAX_LINKS} users together: those who follow the fewest ` +
          "users first.",
      ),
    );
}
