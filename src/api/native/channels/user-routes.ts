import { Elysia } from "elysia";
import { aliasOf } from "../../../http/operation.ts";
import { cursor, fid, limit } from "../../../http/params.ts";
import { channelsOfUser, channelsOfUserCursor } from "../../../read/queries/channels/channels.ts";
import { runQuery } from "../../../read/run-query.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import type { ReadDeps, Viewer } from "../../shared/dialect.ts";
import { respondWithChannelPage } from "./channel-page.ts";

const tags = ["Channels"];

interface PageQuery extends Viewer {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** The channels of a user: `/channel/user-active` and its aliases, `/user/memberships/list`. */
export function userChannelRoutes({ reads, describe }: ReadDeps) {
  const channels = ({ query }: { query: PageQuery & { fid: number } }) => {
    const after = decodeCursor(channelsOfUserCursor, query.cursor);
    return respondWithChannelPage(reads, query, (db) =>
      channelsOfUser(db, { fid: query.fid, limit: query.limit, after }),
    );
  };
  const channelsHook = describe({
    cache: "shared",
    operationId: "getActiveChannelsOfUser",
    summary: "Channels in which a user has casts, most recent first",
    tags,
    query: { fid: fid(), limit: limit(), cursor: cursor() },
    response: "channelPage",
  });

  return new Elysia({ name: "user-channels" })
    .get("/channel/user-active", channels, channelsHook)
    .get("/channel/user", channels, aliasOf("/channel/user-active", channelsHook))
    .get("/user/channels", channels, aliasOf("/channel/user-active", channelsHook))
    .get(
      "/user/memberships/list",
      ({ query }) => {
        const after = decodeCursor(channelsOfUserCursor, query.cursor);
        const { fid, limit, viewer_fid: viewerFid } = query;
        return runQuery(
          reads,
          (db) => ({ fid, ...channelsOfUser(db, { fid, limit, after }) }),
          ({ rows }) => ({ fids: [fid], channelIds: rows.map(({ id }) => id), viewerFid }),
          reads.present.membershipPage,
        );
      },
      describe({
        cache: "shared",
        operationId: "getUserMemberships",
        summary: "The same channels, each with the user as its member",
        tags,
        query: { fid: fid(), limit: limit(), cursor: cursor() },
        response: "membershipPage",
      }),
    );
}
