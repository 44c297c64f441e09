import { Elysia } from "elysia";
import { operation } from "../../http/operation.ts";
import { cursor, fid, limit } from "../../http/params.ts";
import type { Reads } from "../../read/answers.ts";
import {
  castsOfUser,
  castsOfUserCursor,
  repliesOfUser,
  repliesOfUserCursor,
} from "../../read/skeleton/casts-of-user.ts";
import { popularCasts } from "../../read/skeleton/popular-casts.ts";
import { answerCastPage } from "../cast-page.ts";
import { decodeCursor } from "../cursor-param.ts";
import { CastPageResponse } from "../objects.ts";

const tags = ["Feeds"];

const MAX_POPULAR = 10;

/** `/feed/user/casts`, `/feed/user/popular`, `/feed/user/replies_and_recasts`. */
export function userFeedRoutes(reads: Reads) {
  return new Elysia({ name: "user-feeds" })
    .get(
      "/feed/user/casts",
      ({ query }) => {
        const after = decodeCursor(castsOfUserCursor, query.cursor);
        return answerCastPage(reads, (db) => castsOfUser(db, { fid: query.fid, limit: query.limit, after }));
      },
      operation({
        operationId: "getFeedUserCasts",
        summary: "The casts of a user, replies too, newest first",
        tags,
        query: { fid: fid(), limit: limit(), cursor: cursor() },
        response: CastPageResponse,
      }),
    )
    .get(
      "/feed/user/popular",
      ({ query }) => {
        const top = Math.min(query.limit, MAX_POPULAR);
        return answerCastPage(reads, (db) => ({
          rows: popularCasts(db, { fid: query.fid, limit: top }).map((hash) => ({ hash })),
          cursor: null,
        }));
      },
      operation({
        operationId: "getFeedUserPopular",
        summary: "The casts of a user with the most likes, recasts and replies",
        description: `At most ${MAX_POPULAR}, over all live casts of the user; there is no further page.`,
        tags,
        query: { fid: fid(), limit: limit() },
        response: CastPageResponse,
      }),
    )
    .get(
      "/feed/user/replies_and_recasts",
      ({ query }) => {
        const after = decodeCursor(repliesOfUserCursor, query.cursor);
        return answerCastPage(reads, (db) =>
          repliesOfUser(db, { fid: query.fid, limit: query.limit, after }),
        );
      },
      operation({
        operationId: "getFeedUserReplies",
        summary: "The casts of a user that answer a cast, newest first",
        tags,
        query: { fid: fid(), limit: limit(), cursor: cursor() },
        response: CastPageResponse,
      }),
    );
}
