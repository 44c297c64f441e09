import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { ApiError } from "../../http/errors.ts";
import { operation } from "../../http/operation.ts";
import { fid, fidList, optional } from "../../http/params.ts";
import { choiceList } from "../../http/word-params.ts";
import { presentInteractions } from "../../read/present/compat/notification.ts";
import { presentInteractions as presentCounts } from "../../read/present/native/interactions.ts";
import { interactionsOf } from "../../read/queries/casts/interactions.ts";
import {
  type ActType,
  MAX_ACTS,
  MAX_CASTS,
  pairInteractions,
} from "../../read/queries/casts/pair-interactions.ts";
import { type Reads, runQuery } from "../../read/run-query.ts";
import { InteractionsResponse } from "../native/users/schemas.ts";
import { type Assignable, closed } from "../shared/schemas.ts";
import { viewerFid } from "./dialect.ts";
import { NOTIFICATION_TYPES } from "./notification-routes.ts";
import { Notification } from "./notification-schemas.ts";

const PairResponse = Type.Object({ interactions: Type.Array(Notification) }, closed);

export type ObjectTypeCheck = Assignable<ReturnType<typeof presentInteractions>, Static<typeof PairResponse>>;

const ACT_TYPES: Readonly<Record<(typeof NOTIFICATION_TYPES)[number], ActType>> = {
  follows: "follows",
  recasts: "recasts",
  likes: "likes",
  mentions: "mention",
  replies: "reply",
  quotes: "quote",
};

/** `/user/interactions`: a list of the acts between two users, or their numbers with `fid` and `target_fid`. */
export function interactionRoutes(reads: Reads) {
  return new Elysia({ name: "farcaster-interactions" }).get(
    "/user/interactions",
    ({ query }) => {
      const { fids, fid, target_fid: target } = query;
      if (fids === undefined) {
        if (fid === undefined) throw new ApiError("badRequest", "missing query parameter fids");
        const found = reads.db.snapshot(() => interactionsOf(reads.db, fid, target));
        if (!found) throw new ApiError("notFound", "no user has this fid");
        return { interactions: presentCounts(found) };
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
        presentInteractions,
      );
    },
    operation({
      cache: "shared",
      operationId: "getInteractions",
      summary: "Acts between two users, newest first",
      description:
        `The ${MAX_ACTS} newest acts; mentions, replies and quotes of the newest ${MAX_CASTS} casts of each. With ` +
        "`fid` and `target_fid` instead of `fids`: the numbers of acts of the first user towards the second.",
      tags: ["Users"],
      query: {
        fids: optional(fidList({ maxItems: 10, description: "Two fids" })),
        type: choiceList(NOTIFICATION_TYPES),
        fid: optional(fid()),
        target_fid: optional(fid()),
        viewer_fid: viewerFid(),
      },
      response: Type.Union([PairResponse, InteractionsResponse]),
      errors: ["notFound"],
    }),
  );
}
