import { type Static, Type } from "@sinclair/typebox";
import { ApiError } from "../../../http/errors.ts";
import { fid, optional, renamed } from "../../../http/request/params.ts";
import { presentBlocks } from "../../../read/present/compat/relations.ts";
import { blockers, blockersCursor, linkTargets, targetCursors } from "../../../read/queries/users/links.ts";
import { compatPage } from "../../dialects/compat.ts";
import { CompatUser, IsoTime } from "../../dialects/compat-objects.ts";
import { type Assignable, Next, object } from "../../dialects/fields.ts";
import { page } from "../../dialects/native.ts";
import { respondWithUserPage } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { read } = topic({ tag: "Blocks" });

const BlocksResponse = object({
  blocks: Type.Array(
    object({
      object: Type.Literal("block"),
      blocked: Type.Optional(CompatUser),
      blocker: Type.Optional(CompatUser),
      blocked_at: IsoTime("When it started"),
    }),
  ),
  next: Next,
});

export const blockOperations = [
  read({
    id: "getBlocks",
    surface: "native",
    path: "/block/list",
    summary: "Users that a user blocks, newest block first",
    query: { fid: fid(), ...page() },
    response: "userPage",
    run: ({ reads }, { query }) =>
      respondWithUserPage(reads, query, targetCursors.block, (db, page) =>
        linkTargets(db, "block", { fid: query.fid, ...page }),
      ),
  }),
  read({
    id: "getMutes",
    surface: "native",
    path: "/mute/list",
    summary: "Users that a user mutes, newest mute first",
    query: { fid: fid(), ...page() },
    response: "userPage",
    run: ({ reads }, { query }) =>
      respondWithUserPage(reads, query, targetCursors.mute, (db, page) =>
        linkTargets(db, "mute", { fid: query.fid, ...page }),
      ),
  }),
  read({
    id: "getBlocks",
    surface: "compat",
    path: "/block/list",
    summary: "Users that a user blocks, or that block a user, newest block first",
    query: {
      blocker_fid: renamed(optional(fid()), "blocker_fid", "fid"),
      blocked_fid: optional(
        fid({ description: "Instead of `blocker_fid`: list the users that block this user" }),
      ),
      ...compatPage(),
    },
    response: BlocksResponse,
    run: ({ reads }, { query }) => {
      const { blocker_fid: blocker, blocked_fid: blocked } = query;
      if (blocker !== undefined && blocked !== undefined)
        throw new ApiError("badRequest", "blocker_fid and blocked_fid exclude each other");
      if (blocked !== undefined) {
        return respondWithUserPage(
          reads,
          query,
          blockersCursor,
          (db, page) => blockers(db, { fid: blocked, ...page }),
          {
            present: (page, hydration) => presentBlocks({ ...page, side: "blocker" }, hydration),
            select: "all",
          },
        );
      }
      if (blocker === undefined) throw new ApiError("badRequest", "missing query parameter blocker_fid");
      return respondWithUserPage(
        reads,
        query,
        targetCursors.block,
        (db, page) => linkTargets(db, "block", { fid: blocker, ...page }),
        {
          present: (page, hydration) => presentBlocks({ ...page, side: "blocked" }, hydration),
          select: "all",
        },
      );
    },
  }),
];

export type ObjectTypeCheck = Assignable<ReturnType<typeof presentBlocks>, Static<typeof BlocksResponse>>;
