import { NotificationKind } from "../../../db/index/project/notifications.ts";
import { callerOf } from "../../../http/exchange.ts";
import type { SeenUntil } from "../../../read/queries/notifications/unseen.ts";
import type { SeenStore, SeenType } from "../../../writes/seen/seen-store.ts";

/** Which notifications have been seen, for the one who asks. */
export interface SeenMarks {
  /** Those that the owner of the request's API key has marked for a user; none without a key. */
  seenBy(request: Request, fid: number): Promise<SeenUntil>;
}

// A quote notifies only as a mention.
const KIND_OF: Readonly<Record<SeenType, NotificationKind | undefined>> = {
  follows: NotificationKind.Follow,
  recasts: NotificationKind.Recast,
  likes: NotificationKind.Like,
  mentions: NotificationKind.Mention,
  replies: NotificationKind.Reply,
  quotes: undefined,
};

export function createSeenMarks(store: Pick<SeenStore, "find">): SeenMarks {
  return {
    async seenBy(request, fid) {
      const caller = callerOf(request);
      if (caller.kind !== "apiKey") return {};
      const times = await store.find(caller.ownerFid, fid);
      const seen: SeenUntil = {};
      for (const [type, until] of Object.entries(times)) {
        const kind = KIND_OF[type as SeenType];
        if (kind !== undefined) seen[kind] = until;
      }
      return seen;
    },
  };
}
