import { Elysia } from "elysia";
import { operation } from "../../http/operation.ts";
import { choice, cursor, fid, optional, text } from "../../http/params.ts";
import { flag } from "../../http/word-params.ts";
import { castsOfUser, castsOfUserCursor } from "../../read/queries/casts/casts-of-user.ts";
import { parentUrlFilter } from "../../read/queries/channels/channels.ts";
import { authorsFeed, type Stream } from "../../read/queries/feeds/authors-feed.ts";
import { castsInChannel, castsInChannelCursor } from "../../read/queries/feeds/casts-in-channel.ts";
import { timedCursor } from "../../read/queries/feeds/time-order.ts";
import type { Reads } from "../../read/run-query.ts";
import { respondWithCastPage } from "../shared/cast-page.ts";
import { decodeCursor } from "../shared/cursor-param.ts";
import { pageLimit, viewerFid } from "./dialect.ts";
import { CastPageResponse } from "./response-schemas.ts";

const tags = ["Feeds"];

const rootsCursor = timedCursor("feed/user/casts without replies");

const STREAMS = {
  all: ["replies", "recasts"],
  replies: ["replies"],
  recasts: ["recasts"],
} as const satisfies Record<string, readonly Stream[]>;

const streamCursors = {
  all: timedCursor("feed/user/replies_and_recasts all"),
  replies: timedCursor("feed/user/replies_and_recasts replies"),
  recasts: timedCursor("feed/user/replies_and_recasts recasts"),
};

/** `/feed/user/casts` and `/feed/user/replies_and_recasts`. */
export function authorFeedRoutes(reads: Reads) {
  const page = () => ({ limit: pageLimit(), cursor: cursor(), viewer_fid: viewerFid() });
  return new Elysia({ name: "farcaster-user-feeds" })
    .get(
      "/feed/user/casts",
      ({ query }) => {
        const { fid, limit, parent_url: parentUrl, channel_id: channelId } = query;
        if (parentUrl !== undefined || channelId !== undefined) {
          const after = decodeCursor(castsInChannelCursor, query.cursor);
          return respondWithCastPage(reads, query, (db) =>
            castsInChannel(db, {
              fid,
              urls: parentUrlFilter(db, { parentUrl, channelId }) ?? [],
              limit,
              after,
            }),
          );
        }
        if (query.include_replies) {
          const after = decodeCursor(castsOfUserCursor, query.cursor);
          return respondWithCastPage(reads, query, (db) => castsOfUser(db, { fid, limit, after }));
        }
        const after = decodeCursor(rootsCursor, query.cursor);
        return respondWithCastPage(reads, query, (db) =>
          authorsFeed(db, {
            authors: { fids: [fid] },
            streams: ["roots"],
            limit,
            after,
            cursor: rootsCursor,
          }),
        );
      },
      operation({
        cache: "shared",
        operationId: "getFeedUserCasts",
        summary: "The casts of a user, newest first",
        tags,
        query: {
          fid: fid(),
          include_replies: flag(true),
          parent_url: optional(text({ description: "Only casts directly under this URL" })),
          channel_id: optional(text({ description: "Only casts directly in this channel" })),
          ...page(),
        },
        response: CastPageResponse,
      }),
    )
    .get(
      "/feed/user/replies_and_recasts",
      ({ query }) => {
        const { fid, limit, filter } = query;
        const cursor = streamCursors[filter];
        const after = decodeCursor(cursor, query.cursor);
        return respondWithCastPage(reads, query, (db) =>
          authorsFeed(db, { authors: { fids: [fid] }, streams: STREAMS[filter], limit, after, cursor }),
        );
      },
      operation({
        cache: "shared",
        operationId: "getFeedUserReplies",
        summary: "Replies and recasts of a user, newest first; a recast is sorted by its own time",
        tags,
        query: {
          fid: fid(),
          filter: optional(choice(["all", "replies", "recasts"]), "all"),
          ...page(),
        },
        response: CastPageResponse,
      }),
    );
}
