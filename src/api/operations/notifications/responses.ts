import { type Static, Type } from "@sinclair/typebox";
import type {
  Notification as PresentedCompatNotification,
  presentNotifications,
} from "../../../read/present/compat/notification.ts";
import type { Notification as PresentedNotification } from "../../../read/present/native/notification.ts";
import { MAX_UNSEEN } from "../../../read/queries/notifications/notifications.ts";
import { CastDehydrated, CompatCast, CompatUser, IsoTime } from "../../dialects/compat-objects.ts";
import { type Assignable, Next, nullable, object, UnixSecs } from "../../dialects/fields.ts";
import { Cast, User } from "../../dialects/native-objects.ts";

const newest = { description: "The newest ones, newest first, at most 10" };

const Notification = object(
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
      object({
        reaction_type: Type.Union([Type.Literal("like"), Type.Literal("recast")]),
        user: User,
        timestamp: UnixSecs("When it was made"),
      }),
      newest,
    ),
    follows: Type.Array(object({ user: User, timestamp: UnixSecs("When it began") }), newest),
    count: Type.Integer({ minimum: 1, description: "Total number, including those not listed" }),
  },
  { $id: "Notification", description: "`cast`: the cast that mentions, replies or received the reactions" },
);

export const NotificationPageResponse = object({ notifications: Type.Array(Notification), next: Next });

export type NotificationTypeCheck = Assignable<PresentedNotification, Static<typeof Notification>>;
const kindOf = Type.Union([Type.Literal("likes"), Type.Literal("recasts")]);

export const CompatNotification = object(
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
    cast: Type.Optional(CompatCast),
    reactions: Type.Optional(
      Type.Array(object({ object: kindOf, user: CompatUser, cast: CastDehydrated }), {
        description: "The newest ones, newest first, at most 10",
      }),
    ),
    follows: Type.Optional(
      Type.Array(object({ object: Type.Literal("follower"), user: CompatUser }), {
        description: "The newest ones, newest first, at most 10",
      }),
    ),
    count: Type.Integer({ minimum: 1, description: "Total number, including those not listed" }),
  },
  {
    $id: "FarcasterNotification",
    description: "`cast`: the cast that mentions, replies, quotes or received the reactions",
  },
);

export const CompatNotifications = object({
  unseen_notifications_count: Type.Integer({
    minimum: 0,
    maximum: MAX_UNSEEN,
    description:
      "Number of acts in the user's notifications, counted up to the maximum. With an API key, without those that its owner has marked as seen.",
  }),
  notifications: Type.Array(CompatNotification),
  next: Next,
});

export type ObjectTypeCheck = Assignable<PresentedCompatNotification, Static<typeof CompatNotification>> &
  Assignable<ReturnType<typeof presentNotifications>, Static<typeof CompatNotifications>>;
