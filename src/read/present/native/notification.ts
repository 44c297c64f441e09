import { NotificationKind } from "../../../db/index/project/notifications.ts";
import { type Hydration, hashOf } from "../../hydrate/hydrate.ts";
import type { NotificationEntry, NotificationRow } from "../../queries/notifications/notification-groups.ts";
import { presentCast } from "./cast.ts";
import { presentUser } from "./user.ts";

const TYPES = {
  [NotificationKind.Mention]: "cast-mention",
  [NotificationKind.Reply]: "cast-reply",
  [NotificationKind.Like]: "reaction",
  [NotificationKind.Recast]: "reaction",
  [NotificationKind.Follow]: "follow",
} as const;

/** Presents an entry of the in-app list; undefined if its cast is not live. */
export function presentNotification(entry: NotificationEntry, hydration: Hydration) {
  const type = TYPES[entry.newest.kind];
  const cast = entry.castId === undefined ? null : presentCast(hashOf(entry.castId, hydration), hydration);
  if (cast === undefined) return undefined;
  const acts = entry.acts.flatMap((act) => presentAct(act, hydration));
  return {
    type,
    most_recent_timestamp: entry.newest.timestamp,
    cast,
    reactions:
      type === "reaction"
        ? acts.map(({ act, user }) => ({
            reaction_type: act.kind === NotificationKind.Like ? ("like" as const) : ("recast" as const),
            user,
            timestamp: act.timestamp,
          }))
        : [],
    follows: type === "follow" ? acts.map(({ act, user }) => ({ user, timestamp: act.timestamp })) : [],
    count: entry.count,
  };
}

export type Notification = NonNullable<ReturnType<typeof presentNotification>>;

function presentAct(act: NotificationRow, hydration: Hydration) {
  const user = presentUser(act.actorFid, hydration);
  return user ? [{ act, user }] : [];
}
