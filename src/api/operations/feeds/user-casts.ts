import { perRows } from "../../../http/limits/prices.ts";
import { choice, fid, limit, optional, text } from "../../../http/request/params.ts";
import { flag } from "../../../http/request/word-params.ts";
import {
  castsOfUser,
  castsOfUserCursor,
  repliesOfUser,
  repliesOfUserCursor,
} from "../../../read/queries/casts/cast-lists.ts";
import { authorsFeed, type Stream } from "../../../read/queries/feeds/authors-feed.ts";
import { popularCastsPage, popularCastsPosition } from "../../../read/queries/feeds/popular-casts.ts";
import { castsInChannel, castsInChannelCursor } from "../../../read/queries/feeds/url-feeds.ts";
import { timedCursor } from "../../../read/queries/ordered-page.ts";
import { openListRules, ruledPage } from "../../../read/rules/list-rules.ts";
import { CompatCastPage, compatPage } from "../../dialects/compat.ts";
import { page } from "../../dialects/native.ts";
import { respondWithCastList, respondWithCastPage } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { read } = topic({ tag: "Feeds", price: perRows(5) });

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

const MAX_POPULAR = 10;

export const userFeedOperations = [
  read({
    id: "getFeedUserCasts",
    surface: "native",
    path: "/feed/user/casts",
    summary: "Casts and replies of a user, newest first",
    query: { fid: fid(), ...page() },
    response: "castPage",
    run: ({ reads }, { query }) =>
      respondWithCastPage(
        reads,
        query,
        castsOfUserCursor,
        (db, page) => castsOfUser(db, { fid: query.fid, ...page }),
        query.fid,
      ),
  }),
  read({
    id: "getFeedUserCasts",
    surface: "compat",
    path: "/feed/user/casts",
    summary: "The casts of a user, newest first",
    query: {
      fid: fid(),
      include_replies: flag(true),
      parent_url: optional(text({ description: "Only casts directly under this URL" })),
      channel_id: optional(text({ description: "Only casts directly in this channel" })),
      ...compatPage(),
    },
    response: CompatCastPage,
    run: ({ reads }, { query }) => {
      const { fid, parent_url: parentUrl, channel_id: channelId } = query;
      if (parentUrl !== undefined || channelId !== undefined) {
        return respondWithCastPage(
          reads,
          query,
          castsInChannelCursor,
          (db, page) => castsInChannel(db, { fid, parentUrl, channelId, ...page }),
          fid,
        );
      }
      if (query.include_replies)
        return respondWithCastPage(
          reads,
          query,
          castsOfUserCursor,
          (db, page) => castsOfUser(db, { fid, ...page }),
          fid,
        );
      const authors = { fids: [fid] };
      return respondWithCastPage(
        reads,
        query,
        rootsCursor,
        (db, page) => authorsFeed(db, { authors, streams: ["roots"], ...page, cursor: rootsCursor }),
        fid,
      );
    },
  }),
  read({
    id: "getFeedUserReplies",
    surface: "native",
    path: "/feed/user/replies_and_recasts",
    summary: "Replies of a user, newest first",
    query: { fid: fid(), ...page() },
    response: "castPage",
    run: ({ reads }, { query }) =>
      respondWithCastPage(
        reads,
        query,
        repliesOfUserCursor,
        (db, page) => repliesOfUser(db, { fid: query.fid, ...page }),
        query.fid,
      ),
  }),
  read({
    id: "getFeedUserReplies",
    surface: "compat",
    path: "/feed/user/replies_and_recasts",
    summary: "Replies and recasts of a user, newest first; a recast is sorted by its own time",
    query: {
      fid: fid(),
      filter: optional(choice(["all", "replies", "recasts"]), "all"),
      ...compatPage(),
    },
    response: CompatCastPage,
    run: ({ reads }, { query }) => {
      const { fid, filter } = query;
      const cursor = streamCursors[filter];
      const authors = { fids: [fid] };
      return respondWithCastPage(
        reads,
        query,
        cursor,
        (db, page) => authorsFeed(db, { authors, streams: STREAMS[filter], ...page, cursor }),
        fid,
      );
    },
  }),
  read({
    id: "getFeedUserPopular",
    path: "/feed/user/popular",
    summary: "The casts of a user with the most likes, recasts and replies",
    description: `At most ${MAX_POPULAR}, over all live casts of the user; there is only one page.`,
    query: { fid: fid(), limit: limit() },
    response: "castPage",
    run: ({ reads }, { query }) => {
      const { fid, viewer_fid: viewerFid } = query;
      const limit = Math.min(query.limit, MAX_POPULAR);
      return respondWithCastList(reads, query, (db) => {
        const rules = openListRules(reads, { viewerFid, subjectFid: fid });
        const page = { limit, after: undefined, cursor: popularCastsPosition };
        const { rows } = ruledPage(
          rules,
          page,
          (part) => popularCastsPage(db, { fid, ...part }),
          ({ casts }) => casts,
        );
        return { rows, cursor: null };
      });
    },
  }),
];
