import { Elysia } from "elysia";
import { operation } from "../../http/operation.ts";
import { cursor, fid, limit } from "../../http/params.ts";
import type { Reads } from "../../read/answers.ts";
import {
  followers,
  followersCursor,
  linkTargets,
  mutualFollows,
  mutualFollowsCursor,
  targetCursors,
} from "../../read/skeleton/links.ts";
import {
  MAX_FOLLOWING_OF_SOURCE,
  MAX_SOURCES,
  suggestedFollows,
  suggestedFollowsCursor,
} from "../../read/skeleton/suggested-follows.ts";
import { decodeCursor } from "../cursor-param.ts";
import { UserPageResponse } from "../objects.ts";
import { answerUserPage } from "../user-page.ts";

interface Context {
  readonly query: { readonly fid: number; readonly limit: number; readonly cursor: string | undefined };
}

/** Followers, followed users, mutual follows and suggestions, with all their aliases. */
export function followRoutes(reads: Reads) {
  const userPage = (operationId: string, summary: string, description?: string) =>
    operation({
      operationId,
      summary,
      ...(description === undefined ? {} : { description }),
      tags: ["Follows"],
      query: { fid: fid(), limit: limit(), cursor: cursor() },
      response: UserPageResponse,
    });

  const listFollowers = ({ query }: Context) => {
    const after = decodeCursor(followersCursor, query.cursor);
    return answerUserPage(reads, (db) => followers(db, { fid: query.fid, limit: query.limit, after }));
  };
  const listFollowing = ({ query }: Context) => {
    const after = decodeCursor(targetCursors.follow, query.cursor);
    return answerUserPage(reads, (db) =>
      linkTargets(db, "follow", { fid: query.fid, limit: query.limit, after }),
    );
  };
  const listMutual = ({ query }: Context) => {
    const after = decodeCursor(mutualFollowsCursor, query.cursor);
    return answerUserPage(reads, (db) => mutualFollows(db, { fid: query.fid, limit: query.limit, after }));
  };
  const listSuggested = ({ query }: Context) => {
    const after = decodeCursor(suggestedFollowsCursor, query.cursor);
    return answerUserPage(reads, (db) => suggestedFollows(db, { fid: query.fid, limit: query.limit, after }));
  };

  const ofFollowers = "Who follows a user, the newest follow first";
  const ofFollowing = "Whom a user follows, the newest follow first";
  return new Elysia({ name: "follows" })
    .get("/user/followers", listFollowers, userPage("getFollowers", ofFollowers))
    .get("/followers", listFollowers, userPage("getFollowersAlias", ofFollowers))
    .get(
      "/followers/relevant",
      listFollowers,
      userPage("getRelevantFollowers", ofFollowers, "The same as /user/followers: nothing is scored."),
    )
    .get("/user/following", listFollowing, userPage("getFollowing", ofFollowing))
    .get("/following", listFollowing, userPage("getFollowingAlias", ofFollowing))
    .get("/follows", listFollowing, userPage("getFollows", ofFollowing))
    .get(
      "/followers/reciprocal",
      listMutual,
      userPage(
        "getReciprocalFollowers",
        "Users who follow a user and are followed by it, the latest mutual follow first",
      ),
    )
    .get(
      "/following/suggested",
      listSuggested,
      userPage(
        "getSuggestedFollows",
        "Whom a user could follow: friends of friends",
        "By the number of the user's follows that follow the candidate, of equals by number of followers, then by " +
          "fid; never the user itself nor anybody that it follows, blocks or mutes. What is counted are the newest " +
          `${MAX_SOURCES} follows, without those who follow more than ${MAX_FOLLOWING_OF_SOURCE} themselves, and no ` +
          "more of them than follow 100,000 users together.",
      ),
    );
}
