import { Elysia } from "elysia";
import { cursor, fid, limit } from "../../../http/params.ts";
import {
  castsOfUser,
  castsOfUserCursor,
  repliesOfUser,
  repliesOfUserCursor,
} from "../../../read/queries/casts/casts-of-user.ts";
import { respondWithCastPage } from "../../shared/cast-page.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import type { ReadDeps } from "../../shared/dialect.ts";

const tags = ["Feeds"];

/** `/feed/user/casts` and `/feed/user/replies_and_recasts`. */
export function userFeedRoutes({ reads, describe }: ReadDeps) {
  return new Elysia({ name: "user-feeds" })
    .get(
      "/feed/user/casts",
      ({ query }) => {
        const after = decodeCursor(castsOfUserCursor, query.cursor);
        return respondWithCastPage(reads, query, (db) =>
          castsOfUser(db, { fid: query.fid, limit: query.limit, after }),
        );
      },
      describe({
        cache: "shared",
        operationId: "getFeedUserCasts",
        summary: "Casts and replies of a user, newest first",
        tags,
        query: { fid: fid(), limit: limit(), cursor: cursor() },
        response: "castPage",
      }),
    )
    .get(
      "/feed/user/replies_and_recasts",
      ({ query }) => {
        const after = decodeCursor(repliesOfUserCursor, query.cursor);
        return respondWithCastPage(reads, query, (db) =>
          repliesOfUser(db, { fid: query.fid, limit: query.limit, after }),
        );
      },
      describe({
        cache: "shared",
        operationId: "getFeedUserReplies",
        summary: "Replies of a user, newest first",
        tags,
        query: { fid: fid(), limit: limit(), cursor: cursor() },
        response: "castPage",
      }),
    );
}
