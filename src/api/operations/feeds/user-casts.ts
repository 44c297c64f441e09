import { perRows } from "../../../http/limits/prices.ts";
import { choice, fid, limit, optional, text } from "../../../http/request/params.ts";
import { flag } from "../../../http/request/word-params.ts";
import { listOf } from "../../../read/cursor.ts";
import { castsOfUser, repliesOfUser } from "../../../read/queries/casts/cast-lists.ts";
import { authorsFeed, type Stream } from "../../../read/queries/feeds/authors-feed.ts";
import { popularCastsPage, popularCastsPosition } from "../../../read/queries/feeds/popular-casts.ts";
import { castsInChannel } from "../../../read/queries/feeds/url-feeds.ts";
import { timedCursor } from "../../../read/queries/ordered-page.ts";
import { openListRules, ruledPage } from "../../../read/rules/list-rules.ts";
import { CompatCastPage, compatPage } from "../../dialects/compat.ts";
import { page } from "../../dialects/native.ts";
import { respondWithCastList, respondWithCastPage } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { read } = topic({ tag: "Feeds", price: perRows(5) });

const actsOf = (endpoint: string, streams: readonly Stream[]) =>
  listOf(timedCursor(endpoint), (db, { fid }: { readonly fid: number }, page) =>
    authorsFeed(db, { authors: { fids: [fid] }, streams, ...page }),
  );

const rootsOfUser = actsOf("feed/user/casts without replies", ["roots"]);
const filteredActs = {
  all: actsOf("feed/user/replies_and_recasts all", ["replies", "recasts"]),
  replies: actsOf("feed/user/replies_and_recasts replies", ["replies"]),
  recasts: actsOf("feed/user/replies_and_recasts recasts", ["recasts"]),
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
    run: ({ reads }, { query: { fid, ...query } }) =>
      respondWithCastPage(reads, query, castsOfUser, { fid }, fid),
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
      if (parentUrl !== undefined || channelId !== undefined)
        return respondWithCastPage(reads, query, castsInChannel, { fid, parentUrl, channelId }, fid);
      const list = query.include_replies ? castsOfUser : rootsOfUser;
      return respondWithCastPage(reads, query, list, { fid }, fid);
    },
  }),
  read({
    id: "getFeedUserReplies",
    surface: "native",
    path: "/feed/user/replies_and_recasts",
    summary: "Replies of a user, newest first",
    query: { fid: fid(), ...page() },
    response: "castPage",
    run: ({ reads }, { query: { fid, ...query } }) =>
      respondWithCastPage(reads, query, repliesOfUser, { fid }, fid),
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
    run: ({ reads }, { query: { fid, filter, ...query } }) =>
      respondWithCastPage(reads, query, filteredActs[filter], { fid }, fid),
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
