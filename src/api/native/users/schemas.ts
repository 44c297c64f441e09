import { type Static, Type } from "@sinclair/typebox";
import type { Interactions as PresentedInteractions } from "../../../read/present/native/interactions.ts";
import { type Assignable, closed, Fid, Next, nullable } from "../../shared/schemas.ts";

const Interactions = Type.Object(
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
  { ...closed, $id: "Interactions" },
);

export const InteractionsResponse = Type.Object({ interactions: Interactions }, closed);
export const FidPageResponse = Type.Object({ fids: Type.Array(Fid), next: Next }, closed);

export type ObjectTypeCheck = Assignable<PresentedInteractions, Static<typeof Interactions>>;
