import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import type { Page } from "../../cursor.ts";
import type { CastRef } from "../../hydrate/cast-ids.ts";
import type { TimedKey } from "../ordered-page.ts";
import { authorsFeed } from "./authors-feed.ts";
import { followingFeed, followingFeedCursor } from "./following-feed.ts";

/** An fid with more follows than this gets a feed without recasts. */
export const MAX_FOLLOWS_WITH_RECASTS = 2000;

const followingOf = statement<{ following: number }, [fid: number]>(
  "skeleton.followed-roots.following",
  "SELECT following FROM follow_counts WHERE fid = ?",
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
  const follows = withRecasts ? (db.get(followingOf, fid)?.following ?? 0) : 0;
  if (!withRecasts || follows > MAX_FOLLOWS_WITH_RECASTS)
    return followingFeed(db, { ...query, rootsOnly: true });
  return authorsFeed(db, {
    ...query,
    authors: { followedBy: fid },
    streams: ["roots", "recasts"],
    cursor: followingFeedCursor,
  });
}
