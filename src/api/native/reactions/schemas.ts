import { type Static, Type } from "@sinclair/typebox";
import type { Reaction as PresentedReaction } from "../../../read/present/native/reaction.ts";
import { type Assignable, Cast, closed, Next, UnixSecs, User } from "../../shared/schemas.ts";

const Reaction = Type.Object(
  {
    reaction_type: Type.Union([Type.Literal("like"), Type.Literal("recast")]),
    user: User,
    cast: Cast,
    timestamp: UnixSecs("When the user reacted"),
  },
  { ...closed, $id: "Reaction" },
);

export const ReactionPageResponse = Type.Object({ reactions: Type.Array(Reaction), next: Next }, closed);

export type ObjectTypeCheck = Assignable<PresentedReaction, Static<typeof Reaction>>;
