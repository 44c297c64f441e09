import { Elysia } from "elysia";
import { cursor, fid, limit } from "../../../http/params.ts";
import { linkTargets, targetCursors } from "../../../read/queries/users/links.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import type { ReadDeps, Viewer } from "../../shared/dialect.ts";
import { respondWithUserPage } from "../../shared/user-page.ts";

interface Context {
  readonly query: Viewer & {
    readonly fid: number;
    readonly limit: number;
    readonly cursor: string | undefined;
  };
}

/** `/block/list` and `/mute/list`. */
export function blockRoutes({ reads, describe }: ReadDeps) {
  const list =
    (type: "block" | "mute") =>
    ({ query }: Context) => {
      const after = decodeCursor(targetCursors[type], query.cursor);
      return respondWithUserPage(reads, query, (db) =>
        linkTargets(db, type, { fid: query.fid, limit: query.limit, after }),
      );
    };
  const described = (operationId: string, summary: string) =>
    describe({
      cache: "shared",
      operationId,
      summary,
      tags: ["Blocks"],
      query: { fid: fid(), limit: limit(), cursor: cursor() },
      response: "userPage",
    });
  return new Elysia({ name: "blocks" })
    .get("/block/list", list("block"), described("getBlocks", "Users that a user blocks, newest block first"))
    .get("/mute/list", list("mute"), described("getMutes", "Users that a user mutes, newest mute first"));
}
