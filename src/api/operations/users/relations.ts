import { type Static, Type } from "@sinclair/typebox";
import { ApiError } from "../../../http/errors.ts";
import { perRows } from "../../../http/limits/prices.ts";
import { fid, fidList, optional } from "../../../http/request/params.ts";
import { choiceList } from "../../../http/request/word-params.ts";
import { presentInteractions as presentPairInteractions } from "../../../read/present/compat/notification.ts";
import { presentBestFriends } from "../../../read/present/compat/relations.ts";
import {
  type Interactions as PresentedInteractions,
  presentInteractions,
} from "../../../read/present/native/user.ts";
import {
  type ActType,
  interactionsOf,
  MAX_ACTS,
  MAX_CASTS,
  pairInteractions,
} from "../../../read/queries/casts/interactions.ts";
import { mutualFollows } from "../../../read/queries/users/links.ts";
import { mutualAffinity } from "../../../read/queries/users/relevant-followers.ts";
import { openListRules, ruledPage } from "../../../read/rules/list-rules.ts";
import { runQuery } from "../../../read/run-query.ts";
import { compatPage, viewerFid } from "../../dialects/compat.ts";
import { userFields } from "../../dialects/compat-objects.ts";
import { type Assignable, Fid, Next, nullable, object } from "../../dialects/fields.ts";
import { page } from "../../dialects/native.ts";
import { decodeCursor, respondWithUserPage } from "../../respond.ts";
import { topic } from "../../topic.ts";
import { NOTIFICATION_TYPES } from "../notifications/notifications.ts";
import { CompatNotification } from "../notifications/responses.ts";

const { read } = topic({ tag: "Users", price: perRows(2) });

const BestFriend = object(
  {
    object: Type.Literal("user"),
    ...userFields,
    mutual_affinity_score: Type.Number({
      minimum: 0,
      exclusiveMaximum: 1,
      description:
        "m / (m + 1), where m is the smaller of the numbers of likes and recasts that each of the two gave to casts " +
        "of the other, each counted up to 200",
    }),
  },
  { $id: "FarcasterBestFriend" },
);

const BestFriendsResponse = object({ users: Type.Array(BestFriend), next: Next });

const Interactions = object(
  {
    fid: Fid,
    target_fid: nullable(Fid),
    mentions: Type.Integer({
      minimum: 0,
      description: "Live casts of the first user that mention the other",
    }),
    reactions: Type.Integer({
      minimum: 0,
      description: "Live likes and recasts of the first user on live casts of the other",
    }),
    mutual_follow: Type.Boolean(),
  },
  { $id: "Interactions" },
);

const InteractionsResponse = object({ interactions: Interactions });

const PairResponse = object({ interactions: Type.Array(CompatNotification) });

const ACT_TYPES: Readonly<Record<(typeof NOTIFICATION_TYPES)[number], ActType>> = {
  follows: "follows",
  recasts: "recasts",
  likes: "likes",
  mentions: "mention",
  replies: "reply",
  quotes: "quote",
};

export const relationOperations = [
  read({
    id: "getBestFriends",
    surface: "native",
    path: "/user/best_friends",
    summary: "Mutual follows of a user, newest first",
    query: { fid: fid(), ...page() },
    response: "userPage",
    run: ({ reads }, { query }) => respondWithUserPage(reads, query, mutualFollows, { fid: query.fid }),
  }),
  read({
    id: "getBestFriends",
    surface: "compat",
    path: "/user/best_friends",
    summary: "Mutual follows of a user, newest first",
    query: { fid: fid(), ...compatPage() },
    response: BestFriendsResponse,
    run: ({ reads }, { query }) => {
      const after = decodeCursor(mutualFollows.cursor, query.cursor);
      const { fid, limit, viewer_fid: viewerFid } = query;
      return runQuery(
        reads,
        (db) => {
          const rules = openListRules(reads, { viewerFid, subjectFid: fid });
          const { cursor } = mutualFollows;
          const page = ruledPage(
            rules,
            { limit, after, cursor },
            (part) => mutualFollows(db, { fid, ...part }),
            ({ accounts }) => accounts,
          );
          const fids = page.rows.map((row) => row.fid);
          return { ...page, affinity: mutualAffinity(db, fid, fids) };
        },
        ({ rows }) => ({ fids: rows.map((row) => row.fid), viewerFid }),
        presentBestFriends,
      );
    },
  }),
  read({
    id: "getInteractions",
    surface: "native",
    path: "/user/interactions",
    summary: "Numbers of interactions of a user with another; all zero without another user",
    query: { fid: fid(), target_fid: optional(fid()) },
    response: InteractionsResponse,
    errors: ["notFound"],
    run: ({ reads }, { query }) => {
      const found = reads.db.snapshot(() => interactionsOf(reads.db, query.fid, query.target_fid));
      if (!found) throw new ApiError("notFound", "no user has this fid");
      return { interactions: presentInteractions(found) };
    },
  }),
  read({
    id: "getInteractions",
    surface: "compat",
    path: "/user/interactions",
    summary: "Acts between two users, newest first",
    description:
      `The ${MAX_ACTS} newest acts; mentions, replies and quotes of the newest ${MAX_CASTS} casts of each. With ` +
      "`fid` and `target_fid` instead of `fids`: the numbers of acts of the first user towards the second.",
    query: {
      fids: optional(fidList({ maxItems: 10, description: "Two fids" })),
      type: choiceList(NOTIFICATION_TYPES),
      fid: optional(fid()),
      target_fid: optional(fid()),
      viewer_fid: viewerFid(),
    },
    response: Type.Union([PairResponse, InteractionsResponse]),
    errors: ["notFound"],
    run: ({ reads }, { query }) => {
      const { fids, fid, target_fid: target } = query;
      if (fids === undefined) {
        if (fid === undefined) throw new ApiError("badRequest", "missing query parameter fids");
        const found = reads.db.snapshot(() => interactionsOf(reads.db, fid, target));
        if (!found) throw new ApiError("notFound", "no user has this fid");
        return { interactions: presentInteractions(found) };
      }
      const [one, other] = fids;
      if (one === undefined || other === undefined || fids.length !== 2)
        throw new ApiError("badRequest", "fids must be two different fids");
      const types = query.type.map((type) => ACT_TYPES[type]);
      return runQuery(
        reads,
        (db) => pairInteractions(db, { fids: [one, other], types }),
        (acts) => ({
          fids: [one, other],
          castIds: acts.flatMap(({ castId }) => castId ?? []),
          viewerFid: query.viewer_fid,
        }),
        presentPairInteractions,
      );
    },
  }),
];

export type ObjectTypeCheck = Assignable<
  ReturnType<typeof presentBestFriends>,
  Static<typeof BestFriendsResponse>
> &
  Assignable<PresentedInteractions, Static<typeof Interactions>> &
  Assignable<ReturnType<typeof presentPairInteractions>, Static<typeof PairResponse>>;
