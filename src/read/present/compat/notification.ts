import { NotificationKind } from "../../../db/index/project/notifications.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import type { Page } from "../../cursor.ts";
import type { Hash } from "../../hydrate/casts.ts";
import { type Hydration, hashOf } from "../../hydrate/hydrate.ts";
import type { ActType, PairAct } from "../../queries/casts/pair-interactions.ts";
import type { NotificationEntry } from "../../queries/notifications/notification-groups.ts";
import { presentCast, presentCastDehydrated } from "./cast.ts";
import { presentUser } from "./user.ts";

const TYPES = {
  [NotificationKind.Mention]: "mention",
  [NotificationKind.Reply]: "reply",
  [NotificationKind.Like]: "likes",
  [NotificationKind.Recast]: "recasts",
  [NotificationKind.Follow]: "follows",
} as const;

/** Acts of one type that form one notification. Times are unix seconds. */
interface Acts {
  readonly type: ActType;
  readonly newestAt: number;
  /** Newest first, never empty. */
  readonly actorFids: readonly number[];
  /** The cast that mentions, replies, quotes or was reacted to; undefined for follows. */
  readonly hash: Hash | undefined;
  readonly count: number;
}

/** Presents a notification; undefined when its cast is not live or its newest actor does not exist. */
function presentActs({ type, newestAt, actorFids, hash, count }: Acts, hydration: Hydration) {
  const cast = hash === undefined ? undefined : presentCast(hash, hydration);
  const actors = actorFids.flatMap((fid) => presentUser(fid, hydration) ?? []);
  const reacted = type === "likes" || type === "recasts" ? type : undefined;
  const named = reacted && hash && presentCastDehydrated(hash, hydration);
  if (actors[0]?.fid !== actorFids[0] || (hash !== undefined && !cast)) return undefined;
  return {
    object: "notification" as const,
    type,
    most_recent_timestamp: isoTime(newestAt),
    seen: false as const,
    ...(cast && { cast }),
    ...(reacted && named && { reactions: actors.map((user) => ({ object: reacted, user, cast: named })) }),
    ...(type === "follows" && {
      follows: actors.map((user) => ({ object: "follower" as const, user })),
    }),
    count,
  };
}

/** Presents an entry of the in-app list. */
export function presentNotification(entry: NotificationEntry, hydration: Hydration) {
  const { newest, acts, castId, count } = entry;
  const hash = castId === undefined ? undefined : hashOf(castId, hydration);
  const actorFids = acts.map(({ actorFid }) => actorFid);
  const type = TYPES[newest.kind];
  return presentActs({ type, newestAt: newest.timestamp, actorFids, hash, count }, hydration);
}

/** Presents the acts between two users, each as a notification. */
export function presentInteractions(acts: readonly PairAct[], hydration: Hydration) {
  const interactions = acts.flatMap(({ type, timestamp, actorFid, castId }) => {
    const hash = castId === undefined ? undefined : hashOf(castId, hydration);
    return presentActs({ type, newestAt: timestamp, actorFids: [actorFid], hash, count: 1 }, hydration) ?? [];
  });
  return { interactions };
}

export type Notification = NonNullable<ReturnType<typeof presentNotification>>;

/** Presents a page of entries. `unseen` is the number of all acts: no act is ever marked as seen. */
export function presentNotifications(
  { rows, cursor, unseen }: Page<NotificationEntry> & { readonly unseen: number },
  hydration: Hydration,
) {
  return {
    unseen_notifications_count: unseen,
    notifications: rows.flatMap((entry) => presentNotification(entry, hydration) ?? []),
    next: { cursor },
  };
}
