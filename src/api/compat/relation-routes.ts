import { Elysia } from "elysia";
import type { IndexDatabase } from "../../db/index/database.ts";
import { ApiError } from "../../http/errors.ts";
import { operation } from "../../http/operation.ts";
import { cursor, fid, optional, renamed, text } from "../../http/params.ts";
import {
  MAX_TOP_RELEVANT,
  presentBestFriends,
  presentBlocks,
  presentMutes,
  presentRelevantFollowers,
} from "../../read/present/compat/relations.ts";
import { mutualAffinity } from "../../read/queries/users/affinity.ts";
import {
  blockers,
  blockersCursor,
  linkTargets,
  mutualFollows,
  mutualFollowsCursor,
  targetCursors,
} from "../../read/queries/users/links.ts";
import {
  MAX_FOLLOWS,
  MAX_RELEVANT,
  relevantChannelFollowers,
  relevantFollowers,
} from "../../read/queries/users/relevant-followers.ts";
import { type Reads, runQuery } from "../../read/run-query.ts";
import { decodeCursor } from "../shared/cursor-param.ts";
import { respondWithUserPage } from "../shared/user-page.ts";
import { pageLimit, viewerFid } from "./dialect.ts";
import {
  BestFriendsResponse,
  BlocksResponse,
  MutesResponse,
  RelevantFollowersResponse,
} from "./relation-schemas.ts";

const relevantText =
  `Searches the newest ${MAX_FOLLOWS} follows of the viewer. Ordered by number of followers; at most ` +
  `${MAX_RELEVANT}, of which the first ${MAX_TOP_RELEVANT} are complete objects.`;

/** Best friends, relevant followers, blocks and mutes. */
export function relationRoutes(reads: Reads) {
  const relevant = (viewerFid: number, find: (db: IndexDatabase) => number[]) =>
    runQuery(reads, find, (fids) => ({ fids, viewerFid }), presentRelevantFollowers);
  return new Elysia({ name: "farcaster-relations" })
    .get(
      "/user/best_friends",
      ({ query }) => {
        const after = decodeCursor(mutualFollowsCursor, query.cursor);
        const { fid, limit, viewer_fid: viewerFid } = query;
        return runQuery(
          reads,
          (db) => {
            const page = mutualFollows(db, { fid, limit, after });
            const fids = page.rows.map((row) => row.fid);
            return { ...page, affinity: mutualAffinity(db, fid, fids) };
          },
          ({ rows }) => ({ fids: rows.map((row) => row.fid), viewerFid }),
          presentBestFriends,
        );
      },
      operation({
        cache: "shared",
        operationId: "getBestFriends",
        summary: "Mutual follows of a user, newest first",
        tags: ["Users"],
        query: { fid: fid(), limit: pageLimit(), cursor: cursor(), viewer_fid: viewerFid() },
        response: BestFriendsResponse,
      }),
    )
    .get(
      "/followers/relevant",
      ({ query: { target_fid: target, viewer_fid: viewer } }) =>
        relevant(viewer, (db) => relevantFollowers(db, viewer, target)),
      operation({
        cache: "shared",
        operationId: "getRelevantFollowers",
        summary: "Followers of a user whom the viewer follows",
        description: relevantText,
        tags: ["Follows"],
        query: { target_fid: renamed(fid(), "target_fid", "fid"), viewer_fid: fid() },
        response: RelevantFollowersResponse,
      }),
    )
    .get(
      "/channel/followers/relevant",
      ({ query: { id, viewer_fid: viewer } }) =>
        relevant(viewer, (db) => relevantChannelFollowers(db, viewer, id)),
      operation({
        cache: "shared",
        operationId: "getRelevantChannelFollowers",
        summary: "Users active in a channel whom the viewer follows",
        description: relevantText,
        tags: ["Channels"],
        query: { id: renamed(text(), "id", "channel_id"), viewer_fid: fid() },
        response: RelevantFollowersResponse,
      }),
    )
    .get(
      "/block/list",
      ({ query }) => {
        const { blocker_fid: blocker, blocked_fid: blocked, limit } = query;
        if (blocker !== undefined && blocked !== undefined)
          throw new ApiError("badRequest", "blocker_fid and blocked_fid exclude each other");
        if (blocked !== undefined) {
          const after = decodeCursor(blockersCursor, query.cursor);
          return respondWithUserPage(
            reads,
            query,
            (db) => blockers(db, { fid: blocked, limit, after }),
            (page, hydration) => presentBlocks({ ...page, side: "blocker" }, hydration),
          );
        }
        if (blocker === undefined) throw new ApiError("badRequest", "missing query parameter blocker_fid");
        const after = decodeCursor(targetCursors.block, query.cursor);
        return respondWithUserPage(
          reads,
          query,
          (db) => linkTargets(db, "block", { fid: blocker, limit, after }),
          (page, hydration) => presentBlocks({ ...page, side: "blocked" }, hydration),
        );
      },
      operation({
        cache: "shared",
        operationId: "getBlocks",
        summary: "Users that a user blocks, or that block a user, newest block first",
        tags: ["Blocks"],
        query: {
          blocker_fid: renamed(optional(fid()), "blocker_fid", "fid"),
          blocked_fid: optional(
            fid({ description: "Instead of `blocker_fid`: list the users that block this user" }),
          ),
          limit: pageLimit(),
          cursor: cursor(),
          viewer_fid: viewerFid(),
        },
        response: BlocksResponse,
      }),
    )
    .get(
      "/mute/list",
      ({ query }) => {
        const after = decodeCursor(targetCursors.mute, query.cursor);
        const { fid, limit } = query;
        return respondWithUserPage(
          reads,
          query,
          (db) => linkTargets(db, "mute", { fid, limit, after }),
          presentMutes,
        );
      },
      operation({
        cache: "shared",
        operationId: "getMutes",
        summary: "Users that a user mutes, newest mute first",
        tags: ["Blocks"],
        query: { fid: fid(), limit: pageLimit(), cursor: cursor(), viewer_fid: viewerFid() },
        response: MutesResponse,
      }),
    );
}
