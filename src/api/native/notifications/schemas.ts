import { type Static, Type } from "@sinclair/typebox";
import type { Notification as PresentedNotification } from "../../../read/present/native/notification.ts";
import { Cast, closed, Next, nullable, UnixSecs, User } from "../../shared/schemas.ts";

const newest = { description: "The newest ones, newest first, at most 10" };

const Notification = Type.Object(
  {
    type: Type.Union([
      Type.Literal("cast-mention"),
      Type.Literal("cast-reply"),
      Type.Literal("reaction"),
      Type.Literal("follow"),
    ]),
    most_recent_timestamp: UnixSecs("The newest of what the entry counts"),
    cast: nullable(Cast),
    reactions: Type.Array(
      Type.Object(
        {
          reaction_type: Type.Union([Type.Literal("like"), Type.Literal("recast")]),
          user: User,
          timestamp: UnixSecs("When it was made"),
        },
        closed,
      ),
      newest,
    ),
    follows: Type.Array(Type.Object({ user: User, timestamp: UnixSecs("When it began") }, closed), newest),
    count: Type.Integer({ minimum: 1, description: "Total number, including those not listed" }),
  },
  {
    ...closed,
    $id: "Notification",
    description: "`cast`: the cast that mentions, replies or received the reactions",
  },
);

export const NotificationPageResponse = Type.Object(
  { notifications: Type.Array(Notification), next: Next },
  closed,
);

/** Compile-time check that the presenter and the documented object have the same type. */
type Assignable<A, B> = [A] extends [B] ? true : never;
export type NotificationTypeCheck = Assignable<PresentedNotification, Static<typeof Notification>>;
