import { Elysia } from "elysia";
import { aliasOf } from "../../../http/operation.ts";
import { cursor, fid, limit } from "../../../http/params.ts";
import { followers, followersCursor } from "../../../read/queries/users/links.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import type { ReadDeps } from "../../shared/dialect.ts";
import { respondWithUserPage } from "../../shared/user-page.ts";

/** `/followers/relevant`. */
export function relevantFollowerRoutes({ reads, describe }: ReadDeps) {
  return new Elysia({ name: "relevant-followers" }).get(
    "/followers/relevant",
    ({ query }) => {
      const after = decodeCursor(followersCursor, query.cursor);
      return respondWithUserPage(reads, query, (db) =>
        followers(db, { fid: query.fid, limit: query.limit, after }),
      );
    },
    aliasOf(
      "/user/followers",
      describe({
        cache: "shared",
        operationId: "getRelevantFollowers",
        summary: "Followers of a user, newest follow first",
        tags: ["Follows"],
        query: { fid: fid(), limit: limit(), cursor: cursor() },
        response: "userPage",
      }),
    ),
  );
}
