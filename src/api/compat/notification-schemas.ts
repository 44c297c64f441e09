import { type Static, Type } from "@sinclair/typebox";
import type {
  Notification as PresentedNotification,
  presentNotifications,
} from "../../read/present/compat/notification.ts";
import { MAX_UNSEEN } from "../../read/queries/notifications/unseen.ts";
import { type Assignable, closed, Next } from "../shared/schemas.ts";
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
    most_recent_timestamp: IsoTime("Time of the newest act of the entry"),
    seen: Type.Boolean({
      description: "With an API key: whether its owner has marked the newest act as seen. Without one, false",
    }),
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
    count: Type.Integer({ minimum: 1, description: "Total number, including those not listed" }),
  },
  {
    ...closed,
    $id: "FarcasterNotification",
    description: "`cast`: the cast that mentions, replies, quotes or received the reactions",
  },
);

export const NotificationsResponse = Type.Object(
  {
    unseen_notifications_count: Type.Integer({
      minimum: 0,
      maximum: MAX_UNSEEN,
      description:
        "Number of acts in the user's notifications, counted up to the maximum. With an API key, without those that its owner has marked as seen.",
    }),
    notifications: Type.Array(Notification),
    next: Next,
  },
  closed,
);

export type ObjectTypeCheck = Assignable<PresentedNotification, Static<typeof Notification>> &
  Assignable<ReturnType<typeof presentNotifications>, Static<typeof NotificationsResponse>>;
