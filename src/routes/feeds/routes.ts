import { Elysia } from "elysia";
import { ApiError } from "../../http/errors.ts";
import { operation } from "../../http/operation.ts";
import { cursor, fid, limit } from "../../http/params.ts";
import { answer, presentCasts, type Reads } from "../../read/answers.ts";
import type { CursorCodec, Key, KeyShape, Page } from "../../read/cursor.ts";
import type { Hash } from "../../read/hydrate/casts.ts";
import type { Hydration } from "../../read/hydrate/hydrate.ts";
import { castsOfUser, castsOfUserCursor } from "../../read/skeleton/casts-of-user.ts";
import { CastPageResponse } from "../objects.ts";

const tags = ["Feeds"];

/** `/feed/user/casts`. */
export function feedRoutes(reads: Reads) {
  return new Elysia({ name: "feeds" }).get(
    "/feed/user/casts",
    ({ query }) => {
      const after = decodeCursor(castsOfUserCursor, query.cursor);
      return answer(
        reads,
        (db) => castsOfUser(db, { fid: query.fid, limit: query.limit, after }),
        (page) => ({ hashes: page.rows.map((row) => row.hash) }),
        presentCastPage,
      );
    },
    operation({
      operationId: "getFeedUserCasts",
      summary: "The casts of a user, replies too, newest first",
      tags,
      query: { fid: fid(), limit: limit(), cursor: cursor() },
      response: CastPageResponse,
    }),
  );
}

function presentCastPage(page: Page<{ hash: Hash }>, hydration: Hydration) {
  const hashes = page.rows.map((row) => row.hash);
  return { casts: presentCasts(hashes, hydration), next: { cursor: page.cursor } };
}

function decodeCursor<Shape extends KeyShape>(
  codec: CursorCodec<Shape>,
  given: string | undefined,
): Key<Shape> | undefined {
  if (given === undefined) return undefined;
  const key = codec.decode(given);
  if (!key) throw new ApiError("badRequest", "cursor is not one of this endpoint");
  return key;
}
