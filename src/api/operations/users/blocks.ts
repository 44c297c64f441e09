import { type Static, Type } from "@sinclair/typebox";
import { ApiError } from "../../../http/errors.ts";
import { fid, optional, renamed } from "../../../http/request/params.ts";
import { presentBlocks } from "../../../read/present/compat/relations.ts";
import { blockers, blocks, mutes } from "../../../read/queries/users/links.ts";
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
    run: ({ reads }, { query }) => respondWithUserPage(reads, query, blocks, { fid: query.fid }),
  }),
  read({
    id: "getMutes",
    surface: "native",
    path: "/mute/list",
    summary: "Users that a user mutes, newest mute first",
    query: { fid: fid(), ...page() },
    response: "userPage",
    run: ({ reads }, { query }) => respondWithUserPage(reads, query, mutes, { fid: query.fid }),
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
      const respond = (list: typeof blocks, fid: number, side: "blocker" | "blocked") =>
        respondWithUserPage(
          reads,
          query,
          list,
          { fid },
          {
            present: (page, hydration) => presentBlocks({ ...page, side }, hydration),
            select: "all",
          },
        );
      if (blocked !== undefined) return respond(blockers, blocked, "blocker");
      if (blocker === undefined) throw new ApiError("badRequest", "missing query parameter blocker_fid");
      return respond(blocks, blocker, "blocked");
    },
  }),
];

export type ObjectTypeCheck = Assignable<ReturnType<typeof presentBlocks>, Static<typeof BlocksResponse>>;
