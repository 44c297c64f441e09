import { Elysia } from "elysia";
import { ApiError } from "../../http/errors.ts";
import { operation } from "../../http/operation.ts";
import { cursor, fid, limit, optional, text } from "../../http/params.ts";
import type { Reads } from "../../read/answers.ts";
import { presentInteractions } from "../../read/present/interactions.ts";
import { interactionsOf } from "../../read/skeleton/interactions.ts";
import { mutualFollows, mutualFollowsCursor } from "../../read/skeleton/links.ts";
import {
  MAX_MATCHES,
  MAX_MOST_FOLLOWED,
  searchUsers,
  userSearchCursor,
} from "../../read/skeleton/user-search.ts";
import { allFids, hexFidsCursor, locationCursor, usersByLocation } from "../../read/skeleton/users.ts";
import { decodeCursor } from "../cursor-param.ts";
import { UserPageResponse } from "../objects.ts";
import { answerUserPage } from "../user-page.ts";
import { FidPageResponse, InteractionsResponse } from "./objects.ts";

const tags = ["Users"];

/** Lists of users: by location, by search, all of them, best friends; and what two users have to do with each other. */
export function userListRoutes(reads: Reads) {
  return new Elysia({ name: "user-lists" })
    .get(
      "/user/by_location",
      ({ query }) => {
        const after = decodeCursor(locationCursor, query.cursor);
        return answerUserPage(reads, (db) =>
          usersByLocation(db, { prefix: query.location, limit: query.limit, after }),
        );
      },
      operation({
        operationId: "getUsersByLocation",
        summary: "Users whose declared location begins with a text, whatever the case",
        description: "By location, then by fid. Locations have the form `geo:<latitude>,<longitude>`.",
        tags,
        query: {
          location: text({ description: "The beginning of a location", examples: ["geo:52.5"] }),
          limit: limit(),
          cursor: cursor(),
        },
        response: UserPageResponse,
      }),
    )
    .get(
      "/user/search",
      ({ query }) => {
        const after = decodeCursor(userSearchCursor, query.cursor);
        return answerUserPage(reads, (db) => searchUsers(db, { text: query.q, limit: query.limit, after }));
      },
      operation({
        operationId: "searchUsers",
        summary: "Users whose name begins with a text, whatever the case",
        description:
          "The very username first, then usernames with the prefix by number of followers, then users with such a " +
          "word in their display name, also by number of followers; each user once. Where more than " +
          `${MAX_MATCHES} names or words begin so, the first ${MAX_MATCHES} of them in alphabetical order and the ` +
          `${MAX_MOST_FOLLOWED} most followed users of the network are searched.`,
        tags,
        query: {
          q: text({ description: "A leading @ does not count", examples: ["user"] }),
          limit: limit(),
          cursor: cursor(),
        },
        response: UserPageResponse,
      }),
    )
    .get(
      "/user/fid",
      ({ query }) => {
        const after = decodeCursor(hexFidsCursor, query.cursor);
        const { rows, cursor } = allFids(reads.db, { limit: query.limit, after });
        return { fids: rows.map((row) => row.fid), next: { cursor } };
      },
      operation({
        operationId: "getFids",
        summary: "Every fid that exists, ascending",
        tags,
        query: { limit: limit(), cursor: cursor() },
        response: FidPageResponse,
      }),
    )
    .get(
      "/user/best_friends",
      ({ query }) => {
        const after = decodeCursor(mutualFollowsCursor, query.cursor);
        return answerUserPage(reads, (db) =>
          mutualFollows(db, { fid: query.fid, limit: query.limit, after }),
        );
      },
      operation({
        operationId: "getBestFriends",
        summary: "Users who follow a user and are followed by it, the latest mutual follow first",
        tags,
        query: { fid: fid(), limit: limit(), cursor: cursor() },
        response: UserPageResponse,
      }),
    )
    .get(
      "/user/interactions",
      ({ query }) => {
        const found = reads.db.snapshot(() => interactionsOf(reads.db, query.fid, query.target_fid));
        if (!found) throw new ApiError("notFound", "no user has this fid");
        return { interactions: presentInteractions(found) };
      },
      operation({
        operationId: "getInteractions",
        summary: "What a user had to do with another; all zero without another",
        tags,
        query: { fid: fid(), target_fid: optional(fid()) },
        response: InteractionsResponse,
        errors: ["notFound"],
      }),
    );
}
