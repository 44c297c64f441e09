import { perRows } from "../../../http/limits/prices.ts";
import { fid } from "../../../http/request/params.ts";
import { flag } from "../../../http/request/word-params.ts";
import {
  following,
  followingRoots,
  MAX_FOLLOWS_WITH_RECASTS,
} from "../../../read/queries/feeds/following-feed.ts";
import type { Reads } from "../../../read/run-query.ts";
import { CompatCastPage, compatPage } from "../../dialects/compat.ts";
import { page } from "../../dialects/native.ts";
import { type PageQuery, respondWithCastPage } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { read } = topic({ tag: "Feeds", price: perRows(5) });

export const withRecasts = () =>
  flag(true, { description: "Include casts that the authors recasted, at the time of the recast" });
export const withReplies = () => flag(false, { description: "Include replies; recasts are then excluded" });

interface FollowingQuery extends PageQuery {
  readonly fid: number;
}

export const followingFeedOperations = [
  read({
    id: "getFeedFollowing",
    surface: "native",
    path: "/feed/following",
    summary: "Casts and replies of the users that a user follows, newest first",
    query: { fid: fid(), ...page() },
    response: "castPage",
    run: ({ reads }, { query }) => respondWithFollowing(reads, query),
  }),
  read({
    id: "getFeedFollowing",
    surface: "compat",
    path: "/feed/following",
    summary: "Casts of the users that a user follows, newest first",
    description:
      `Recasts are excluded for a user who follows more than ${MAX_FOLLOWS_WITH_RECASTS} users. A cast that ` +
      "several of them recasted appears at the time of the latest recast.",
    query: { fid: fid(), with_recasts: withRecasts(), with_replies: withReplies(), ...compatPage() },
    response: CompatCastPage,
    run: ({ reads }, { query }) => respondWithCompatFollowing(reads, query),
  }),
];

export function respondWithFollowing(reads: Reads, query: FollowingQuery) {
  return respondWithCastPage(reads, query, following, { fid: query.fid });
}

export function respondWithCompatFollowing(
  reads: Reads,
  query: FollowingQuery & { readonly with_recasts: boolean; readonly with_replies: boolean },
) {
  if (query.with_replies) return respondWithFollowing(reads, query);
  const { fid, with_recasts: withRecasts } = query;
  return respondWithCastPage(reads, query, followingRoots, { fid, withRecasts });
}
