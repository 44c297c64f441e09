import { type Static, Type } from "@sinclair/typebox";
import type {
  Notification as PresentedNotification,
  presentNotifications,
} from "../../read/present/compat/notification.ts";
import { MAX_UNSEEN } from "../../read/queries/notifications/unseen.ts";
import { closed, Next, type Same } from "../shared/schemas.ts";
import { Cast, CastDehydrated, IsoTime, User } from "./schemas.ts";

const kindOf = Type.Union([Type.Literal("likes"), Type.Literal("recasts")]);

export const Notification = Type.Object(
  {
    object: Type.Literal("notification"),
    type: Type.Union([
      Type.Literal("follows"),
      Type.Literal("recasts"),
      Type.Literal("likes"),
      Type.Literal("mention"),
      Type.Literal("reply"),
      Type.Literal("quote"),
    ]),
    most_recent_timestamp: IsoTime("The newest of what the entry counts"),
    timestamp: IsoTime("The same"),
    seen: Type.Literal(false, { description: "Always false: nothing can be marked as seen" }),
    user: User,
    cast: Type.Optional(Cast),
    reactions: Type.Optional(
      Type.Array(Type.Object({ object: kindOf, user: User, cast: CastDehydrated }, closed), {
        description: "The newest ones, newest first, at most 10",
      }),
    ),
    follows: Type.Optional(
      Type.Array(Type.Object({ object: Type.Literal("follower"), user: User }, closed), {
        description: "The newest ones, newest first, at most 10",
      }),
    ),
    count: Type.Integer({ minimum: 1, description: "The number of all of them, also those not listed" }),
  },
  {
    ...closed,
    $id: "FarcasterNotification",
    description: "`user`: who acted last; `cast`: what mentions, replies or was reacted to",
  },
);

export const NotificationsResponse = Type.Object(
  {
    unseen_notifications_count: Type.Integer({
      minimum: 0,
      maximum: MAX_UNSEEN,
      description:
        "The acts that the user is told of, counted up to the maximum; none is ever marked as seen",
    }),
    notifications: Type.Array(Notification),
    next: Next,
  },
  closed,
);

export type ObjectsAreDocumented = Same<PresentedNotification, Static<typeof Notification>> &
  Same<ReturnType<typeof presentNotifications>, Static<typeof NotificationsResponse>>;
