import type { IndexDatabase } from "../../../db/index/database.ts";
import { LinkType } from "../../../db/index/messages/link-type.ts";
import { statement } from "../../../db/index/statement.ts";
import type { Page } from "../../cursor.ts";
import type { CastRef } from "../../hydrate/cast-ids.ts";
import type { TimedKey } from "../ordered-page.ts";
import { authorsFeed } from "./authors-feed.ts";
import { followingFeed, followingFeedCursor } from "./following-feed.ts";

/** An fid with more follows than this gets a feed without recasts. */
export const MAX_FOLLOWS_WITH_RECASTS = 2000;

const follows = statement<{ fid: number }, [fid: number, limit: number]>(
  "skeleton.followed-roots.follows",
  `SELECT target_fid AS fid FROM links WHERE fid = ? AND type = ${LinkType.Follow} LIMIT ?`,
);

/**
 * Returns the casts without a parent cast of the users that an fid follows, and their recasts, newest first. A recast is
 * sorted by its own time.
 */
export function followedRoots(
  db: IndexDatabase,
  query: { fid: number; limit: number; after: TimedKey | undefined; withRecasts: boolean },
): Page<CastRef> {
  const { fid, withRecasts } = query;
  const fids = withRecasts ? db.all(follows, fid, MAX_FOLLOWS_WITH_RECASTS + 1) : [];
  if (!withRecasts || fids.length > MAX_FOLLOWS_WITH_RECASTS)
    return followingFeed(db, { ...query, rootsOnly: true });
  return authorsFeed(db, {
    ...query,
    fids: fids.map((row) => row.fid),
    streams: ["roots", "recasts"],
    cursor: followingFeedCursor,
  });
}
