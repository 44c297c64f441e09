import { NotificationKind } from "../../../db/index/project/notifications.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import type { Page } from "../../cursor.ts";
import type { Hash } from "../../hydrate/casts.ts";
import { type Hydration, hashOf } from "../../hydrate/hydrate.ts";
import type { ActType, PairAct } from "../../queries/casts/interactions.ts";
import type { NotificationEntry } from "../../queries/notifications/notification-groups.ts";
import type { SeenUntil } from "../../queries/notifications/notifications.ts";
import { presentCast, presentCastDehydrated } from "./cast.ts";
import { presentUsers } from "./user.ts";

const TYPES = {
  [NotificationKind.Mention]: "mention",
  [NotificationKind.Reply]: "reply",
  [NotificationKind.Like]: "likes",
  [NotificationKind.Recast]: "recasts",
  [NotificationKind.Follow]: "follows",
} as const;

/** Acts of one type that form one notification. Times are in Unix seconds. */
interface Acts {
  readonly type: ActType;
  readonly newestAt: number;
  /** Newest first, never empty. */
  readonly actorFids: readonly number[];
  /** The cast that mentions, replies, quotes or was reacted to; undefined for follows. */
  readonly hash: Hash | undefined;
  readonly count: number;
  readonly seen: boolean;
}

/** Presents a notification; undefined if its cast is not live or its newest actor does not exist. */
function presentActs({ type, newestAt, actorFids, hash, count, seen }: Acts, hydration: Hydration) {
  const cast = hash === undefined ? undefined : presentCast(hash, hydration);
  if (hash !== undefined && cast === undefined) return undefined;
  const actors = presentUsers(actorFids, hydration);
  if (actors[0]?.fid !== actorFids[0]) return undefined;
  const head = {
    object: "notification" as const,
    type,
    most_recent_timestamp: isoTime(newestAt),
    seen,
  };
  if (hash === undefined || cast === undefined) {
    const follows = actors.map((user) => ({ object: "follower" as const, user }));
    return { ...head, follows, count };
  }
  if (type !== "likes" && type !== "recasts") return { ...head, cast, count };
  const named = presentCastDehydrated(hash, hydration);
  const reactions = named && actors.map((user) => ({ object: type, user, cast: named }));
  return { ...head, cast, ...(reactions && { reactions }), count };
}

/** Presents an entry of the in-app list. It counts as seen if its newest act does. */
export function presentNotification(entry: NotificationEntry, seen: SeenUntil, hydration: Hydration) {
  const { newest, acts, castId, count } = entry;
  const hash = castId === undefined ? undefined : hashOf(castId, hydration);
  const actorFids = acts.map(({ actorFid }) => actorFid);
  const type = TYPES[newest.kind];
  const isSeen = newest.timestamp <= (seen[newest.kind] ?? 0);
  return presentActs({ type, newestAt: newest.timestamp, actorFids, hash, count, seen: isSeen }, hydration);
}

/** Presents the acts between two users, each as its own notification. */
export function presentInteractions(acts: readonly PairAct[], hydration: Hydration) {
  const interactions = acts.flatMap(({ type, timestamp, actorFid, castId }) => {
    const hash = castId === undefined ? undefined : hashOf(castId, hydration);
    return (
      presentActs(
        { type, newestAt: timestamp, actorFids: [actorFid], hash, count: 1, seen: false },
        hydration,
      ) ?? []
    );
  });
  return { interactions };
}

export type Notification = NonNullable<ReturnType<typeof presentNotification>>;

/** Presents a page of entries. `unseen` is the number of unseen acts on all pages. */
export function presentNotifications(
  {
    rows,
    cursor,
    unseen,
    seen,
  }: Page<NotificationEntry> & { readonly unseen: number; readonly seen: SeenUntil },
  hydration: Hydration,
) {
  return {
    unseen_notifications_count: unseen,
    notifications: rows.flatMap((entry) => presentNotification(entry, seen, hydration) ?? []),
    next: { cursor },
  };
}
