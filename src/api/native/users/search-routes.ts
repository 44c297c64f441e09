import { Elysia } from "elysia";
import { cursor, limit, text } from "../../../http/params.ts";
import {
  MAX_MATCHES,
  MAX_MOST_FOLLOWED,
  searchUsers,
  userSearchCursor,
} from "../../../read/queries/search/user-search.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import type { ReadDeps } from "../../shared/dialect.ts";
import { respondWithUserPage } from "../../shared/user-page.ts";

/** `/user/search`. */
export function userSearchRoutes({ reads, describe }: ReadDeps) {
  return new Elysia({ name: "user-search" }).get(
    "/user/search",
    ({ query }) => {
      const after = decodeCursor(userSearchCursor, query.cursor);
      return respondWithUserPage(
        reads,
        query,
        (db) => searchUsers(db, reads.cache, { text: query.q, limit: query.limit, after }),
        reads.present.userSearch,
      );
    },
    describe({
      cache: "shared",
      operationId: "searchUsers",
      summary: "Users whose name starts with a text, ignoring case",
      description:
        "The exact username first, then usernames with the prefix by number of followers, then users with a matching " +
        "word in their display name, also by number of followers; each user once. If more than " +
        `${MAX_MATCHES} names or words match, the search covers the first ${MAX_MATCHES} of them in alphabetical order and the ` +
        `${MAX_MOST_FOLLOWED} most followed users of the network.`,
      tags: ["Users"],
      query: {
        q: text({ description: "A leading @ is ignored", examples: ["user"] }),
        limit: limit(),
        cursor: cursor(),
      },
      response: "userSearch",
    }),
  );
}
