import { Elysia } from "elysia";
import { ApiError } from "../../../http/errors.ts";
import { operation } from "../../../http/operation.ts";
import { cursor, fid, limit, optional } from "../../../http/params.ts";
import { presentInteractions } from "../../../read/present/native/interactions.ts";
import { interactionsOf } from "../../../read/queries/casts/interactions.ts";
import { mutualFollows, mutualFollowsCursor } from "../../../read/queries/users/links.ts";
import { allFids, hexFidsCursor } from "../../../read/queries/users/users.ts";
import type { ReadSource } from "../../../read/run-query.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import type { ReadDeps } from "../../shared/dialect.ts";
import { respondWithUserPage } from "../../shared/user-page.ts";
import { FidPageResponse, InteractionsResponse } from "./schemas.ts";

const tags = ["Users"];

/** Responds with a page of all fids, ascending. */
export function listFids(
  { db }: ReadSource,
  query: { readonly limit: number; readonly cursor: string | undefined },
) {
  const after = decodeCursor(hexFidsCursor, query.cursor);
  const { rows, cursor } = allFids(db, { limit: query.limit, after });
  return { fids: rows.map((row) => row.fid), next: { cursor } };
}

/** All fids, best friends, and the interactions of two users. */
export function userListRoutes({ reads, describe }: ReadDeps) {
  return new Elysia({ name: "user-lists" })
    .get(
      "/user/fid",
      ({ query }) => listFids(reads, query),
      operation({
        cache: "shared",
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
        return respondWithUserPage(reads, query, (db) =>
          mutualFollows(db, { fid: query.fid, limit: query.limit, after }),
        );
      },
      describe({
        cache: "shared",
        operationId: "getBestFriends",
        summary: "Mutual follows of a user, newest first",
        tags,
        query: { fid: fid(), limit: limit(), cursor: cursor() },
        response: "userPage",
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
        cache: "shared",
        operationId: "getInteractions",
        summary: "Numbers of interactions of a user with another; all zero without another user",
        tags,
        query: { fid: fid(), target_fid: optional(fid()) },
        response: InteractionsResponse,
        errors: ["notFound"],
      }),
    );
}
