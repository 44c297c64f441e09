import { type Static, Type } from "@sinclair/typebox";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { perRows } from "../../../http/limits/prices.ts";
import { fid, renamed, text } from "../../../http/request/params.ts";
import type { Page } from "../../../read/cursor.ts";
import type { Hydration } from "../../../read/hydrate/hydrate.ts";
import { MAX_TOP_RELEVANT, presentRelevantFollowers } from "../../../read/present/compat/relations.ts";
import { type DatedUser, followers, follows, mutualFollows } from "../../../read/queries/users/links.ts";
import {
  MAX_FOLLOWS,
  MAX_RELEVANT,
  relevantChannelFollowers,
  relevantFollowers,
} from "../../../read/queries/users/relevant-followers.ts";
import { MAX_LINKS, MAX_SOURCES, suggestedFollows } from "../../../read/queries/users/suggested-follows.ts";
import { openListRules } from "../../../read/rules/list-rules.ts";
import { type Reads, runQuery } from "../../../read/run-query.ts";
import { CompatUser, UserDehydrated } from "../../dialects/compat-objects.ts";
import { type Assignable, object } from "../../dialects/fields.ts";
import { page } from "../../dialects/native.ts";
import { type PageQuery, respondWithUserPage } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { read } = topic({ tag: "Follows" });

const RelevantFollowersResponse = object({
  top_relevant_followers_hydrated: Type.Array(object({ object: Type.Literal("follower"), user: CompatUser })),
  all_relevant_followers_dehydrated: Type.Array(
    object({ object: Type.Literal("follower_dehydrated"), user: UserDehydrated }),
  ),
});

const relevantText =
  `Searches the newest ${MAX_FOLLOWS} follows of the viewer. Ordered by number of followers; at most ` +
  `${MAX_RELEVANT}, of which the first ${MAX_TOP_RELEVANT} are complete objects.`;

export const followOperations = [
  read({
    id: "getFollowers",
    path: "/user/followers",
    aliases: { native: ["/followers", "/followers/relevant"], compat: ["/followers"] },
    price: perRows(2),
    summary: "Followers of a user, newest follow first",
    query: { fid: fid(), ...page() },
    response: "followerPage",
    run: ({ reads }, { query }) => respondWithTies(reads, query, followers, reads.present.followerPage),
  }),
  read({
    id: "getFollowing",
    path: "/user/following",
    aliases: ["/following", "/follows"],
    price: perRows(2),
    summary: "Users that a user follows, newest follow first",
    query: { fid: fid(), ...page() },
    response: "followerPage",
    run: ({ reads }, { query }) => respondWithTies(reads, query, follows, reads.present.followerPage),
  }),
  read({
    id: "getReciprocalFollowers",
    path: "/followers/reciprocal",
    price: perRows(2),
    summary: "Mutual follows of a user, newest first",
    query: { fid: fid(), ...page() },
    response: "mutualFollowPage",
    run: ({ reads }, { query }) =>
      respondWithTies(reads, query, mutualFollows, reads.present.mutualFollowPage),
  }),
  read({
    id: "getSuggestedFollows",
    path: "/following/suggested",
    price: perRows(200),
    summary: "Follow suggestions for a user: friends of friends",
    description:
      "Ordered by the number of the user's follows that follow the candidate, then by number of followers, then by " +
      "fid. Excludes the user and the users that they follow, block or mute. Counts the newest " +
      `${MAX_SOURCES} follows, and at most as many as follow ${MAX_LINKS} users together: those who follow the fewest ` +
      "users first.",
    query: { fid: fid(), ...page() },
    response: "userPage",
    run: ({ reads }, { query: { fid, ...query } }) =>
      respondWithUserPage(reads, query, suggestedFollows, { fid }, { subjectFid: fid }),
  }),
  read({
    id: "getRelevantFollowers",
    surface: "compat",
    path: "/followers/relevant",
    price: perRows(2),
    summary: "Followers of a user whom the viewer follows",
    description: relevantText,
    query: { target_fid: renamed(fid(), "target_fid", "fid"), viewer_fid: fid() },
    response: RelevantFollowersResponse,
    run: ({ reads }, { query: { target_fid: target, viewer_fid: viewer } }) =>
      respondWithRelevant(reads, viewer, {
        subjectFid: target,
        find: (db, max) => relevantFollowers(db, { viewerFid: viewer, targetFid: target, max }),
      }),
  }),
  read({
    id: "getRelevantChannelFollowers",
    surface: "compat",
    path: "/channel/followers/relevant",
    tag: "Channels",
    price: perRows(2),
    summary: "Users active in a channel whom the viewer follows",
    description: relevantText,
    query: { id: renamed(text(), "id", "channel_id"), viewer_fid: fid() },
    response: RelevantFollowersResponse,
    run: ({ reads }, { query: { id, viewer_fid: viewer } }) =>
      respondWithRelevant(reads, viewer, {
        find: (db, max) => relevantChannelFollowers(db, { viewerFid: viewer, channel: id, max }),
      }),
  }),
];

/** Responds with a page of a user's followers, or of the users that they follow. */
function respondWithTies(
  reads: Reads,
  query: PageQuery & { readonly fid: number },
  list: typeof followers,
  present: (page: Page<DatedUser>, hydration: Hydration) => object,
) {
  const { fid } = query;
  return respondWithUserPage(reads, query, list, { fid }, { present, subjectFid: fid });
}

/** Responds with the first relevant followers that the viewer's relations do not hide. */
function respondWithRelevant(
  reads: Reads,
  viewerFid: number,
  list: {
    readonly subjectFid?: number;
    readonly find: (db: IndexDatabase, max: number) => readonly { readonly fid: number }[];
  },
) {
  return runQuery(
    reads,
    (db) => {
      const rules = openListRules(reads, { viewerFid, subjectFid: list.subjectFid });
      if (rules?.isClosed) return [];
      const rows = rules ? rules.accounts(list.find(db, MAX_FOLLOWS)) : list.find(db, MAX_RELEVANT);
      return rows.slice(0, MAX_RELEVANT).map(({ fid }) => fid);
    },
    (fids) => ({ fids, viewerFid }),
    presentRelevantFollowers,
  );
}

export type ObjectTypeCheck = Assignable<
  ReturnType<typeof presentRelevantFollowers>,
  Static<typeof RelevantFollowersResponse>
>;
