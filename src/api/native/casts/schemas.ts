import { type Static, Type } from "@sinclair/typebox";
import type { CastWithReplies as PresentedCastWithReplies } from "../../../read/present/native/conversation.ts";
import { type Assignable, Cast, closed, Next } from "../../shared/schemas.ts";

/** Objects of responses about casts, for the OpenAPI document. */

const CastWithReplies = Type.Recursive(
  (This) =>
    Type.Object(
      { cast: Cast, replies: Type.Array(This, { description: "Oldest first, at most 50" }) },
      { ...closed, description: "A cast and its replies, at most 500 in total" },
    ),
  { $id: "CastWithReplies" },
);

export const ConversationResponse = CastWithReplies;

export const CastMetricsResponse = Type.Object(
  { metrics: Type.Array(Type.Never(), { description: "Always empty" }), next: Next },
  closed,
);

export const ConversationSummaryResponse = Type.Object({ summary: Type.String() }, closed);

export const EmbedMetadataResponse = Type.Object({ metadata: Type.Null() }, closed);

/** Compile-time check that the presenter and its documented object have the same type. */
export type ConversationTypeCheck = Assignable<PresentedCastWithReplies, Static<typeof CastWithReplies>>;
