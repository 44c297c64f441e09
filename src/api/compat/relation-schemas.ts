import { type Static, Type } from "@sinclair/typebox";
import type {
  presentBestFriends,
  presentBlocks,
  presentMutes,
  presentRelevantFollowers,
} from "../../read/present/compat/relations.ts";
import { type Assignable, closed, Next } from "../shared/schemas.ts";
import { IsoTime, User, UserDehydrated, userFields } from "./schemas.ts";

export const RelevantFollowersResponse = Type.Object(
  {
    top_relevant_followers_hydrated: Type.Array(
      Type.Object({ object: Type.Literal("follower"), user: User }, closed),
    ),
    all_relevant_followers_dehydrated: Type.Array(
      Type.Object({ object: Type.Literal("follower_dehydrated"), user: UserDehydrated }, closed),
    ),
  },
  closed,
);

const BestFriend = Type.Object(
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
  { ...closed, $id: "FarcasterBestFriend" },
);

export const BestFriendsResponse = Type.Object({ users: Type.Array(BestFriend), next: Next }, closed);

export const BlocksResponse = Type.Object(
  {
    blocks: Type.Array(
      Type.Object(
        {
          object: Type.Literal("block"),
          blocked: Type.Optional(User),
          blocker: Type.Optional(User),
          blocked_at: IsoTime("When it started"),
        },
        closed,
      ),
    ),
    next: Next,
  },
  closed,
);

export const MutesResponse = Type.Object(
  {
    mutes: Type.Array(
      Type.Object(
        { object: Type.Literal("mute"), muted: User, muted_at: IsoTime("When it started") },
        closed,
      ),
    ),
    next: Next,
  },
  closed,
);

export type ObjectTypeCheck = Assignable<
  ReturnType<typeof presentRelevantFollowers>,
  Static<typeof RelevantFollowersResponse>
> &
  Assignable<ReturnType<typeof presentBestFriends>, Static<typeof BestFriendsResponse>> &
  Assignable<ReturnType<typeof presentBlocks>, Static<typeof BlocksResponse>> &
  Assignable<ReturnType<typeof presentMutes>, Static<typeof MutesResponse>>;
