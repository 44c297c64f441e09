import { firstCastIdAt, timestampOfCastId } from "../../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { LinkType } from "../../../db/index/messages/columns.ts";
import { statement } from "../../../db/index/statement.ts";
import { listOf, type Page } from "../../cursor.ts";
import type { CastRef } from "../../hydrate/casts.ts";
import type { ListedCast } from "../../rules/list-rules.ts";
import { castPage, LOWEST_HASH, mergeNewestCasts, type TimedKey, timedCursor } from "../ordered-page.ts";
import { followedScans, willReadOfEach } from "./author-reads.ts";
import { authorsFeed } from "./authors-feed.ts";

const followingOf = statement<{ following: number }, [fid: number]>(
  "skeleton.following-feed.following",
  "SELECT following FROM follow_counts WHERE fid = ?",
);
const endOfScan = statement<CastRef, [below: number, scannedBefore: number]>(
  "skeleton.following-feed.end-of-scan",
  "SELECT id FROM casts WHERE id < ? ORDER BY id DESC LIMIT 1 OFFSET ?",
);
// The index has the casts of an author in two ranges: those with a parent cast, and all others.
const declareMerge = (name: string, ranges: string) =>
  statement<CastRef, [below: number, fid: number, limit: number]>(
    `skeleton.following-feed.${name}`,
    mergeNewestCasts({
      sources: {
        key: ["l.target_fid", "j.value"],
        from: `links l CROSS JOIN json_each('${ranges}') j WHERE l.fid = ?2 AND l.type = ${LinkType.Follow}`,
      },
      rowsOf: (author, isReply) => `casts WHERE fid = ${author} AND (parent_id IS NOT NULL) = ${isReply}`,
      below: "?1",
      limit: "?3",
    }),
  );
const allCasts = { scan: followedScans.all, merge: declareMerge("merge", "[0, 1]") };
const rootCasts = { scan: followedScans.roots, merge: declareMerge("merge-roots", "[0]") };

const followingFeedCursor = timedCursor("feed/following");

/** The thresholds that choose between the two strategies. Tests set them low. */
export interface FollowingFeedBounds {
  /** Up to this number of follows, the merge is as fast as the scan. */
  readonly alwaysMergedUpTo: number;
  /** Number of casts to scan per follow. A scanned cast costs about an eighth of a merge's look-up. */
  readonly scannedPerFollow: number;
  /** Maximum number of casts to scan for a page. */
  readonly maxScanned: number;
  /** An fid with more follows than this is served only by the scan. */
  readonly maxMerged: number;
}

const BOUNDS: FollowingFeedBounds = {
  alwaysMergedUpTo: 250,
  scannedPerFollow: 4,
  maxScanned: 60_000,
  maxMerged: 20_000,
};

/**
 * Returns the live casts of the users that an fid follows, newest first. There are two strategies for a page. Both are exact
 * and use the same keyset order:
 *
 * - The scan reads all casts by time and selects those of followed authors. Its work is the page size divided by the share
 *   of the followed authors in the casts of that time, independent of their number.
 * - The merge looks up the next cast of every followed author and repeatedly takes the newest. Its work is one look-up per
 *   follow and one per cast of the page, however rarely the authors cast.
 *
 * The share is not known in advance. Therefore the scan runs first, up to about half the cost of the merge. If it ends
 * without a full page, the merge builds the page. Measured on 1,000,000 casts of 100,000 authors: a page of 25 for 10,000
 * follows takes 0.2 ms if they have a tenth of the casts, and 1.5 ms if they have a hundredth. The merge takes 2 µs per
 * follow: 0.2 ms for 100 and 20 ms for 10,000. The scan takes 0.25 to 0.5 µs per cast.
 *
 * With more than 20,000 follows the merge would delay other requests. A page then ends after 60,000 scanned casts (20 ms),
 * with the casts found so far and a cursor at the end of the scan. Pages of such an fid before the last may be short or
 * empty if fewer than one in 2,400 casts is by a followed author.
 */
export function followingFeed(
  db: IndexDatabase,
  query: {
    fid: number;
    limit: number;
    after: TimedKey | undefined;
    /** Whether to leave out replies. */
    rootsOnly?: boolean;
  },
  bounds: FollowingFeedBounds = BOUNDS,
): Page<CastRef> {
  const { fid, limit, after, rootsOnly = false } = query;
  const { scan, merge } = rootsOnly ? rootCasts : allCasts;
  const follows = countFollows(db, fid);
  if (follows === 0) return { rows: [], cursor: null };
  const page = { limit, after, cursor: followingFeedCursor };
  const merged = () =>
    castPage(db, page, (below, maxRows) => {
      willReadOfEach(db, fid, "casts_by_author", [0, below], ...(rootsOnly ? [] : [[1, below] as const]));
      return db.all(merge, below, fid, maxRows);
    });
  const maxScanned = castsToScan(follows, bounds);
  if (maxScanned === 0) return merged();
  let end: number | undefined;
  const scanned = castPage(db, page, (below, maxRows) => {
    const found = db.all(scan, below, maxScanned, fid, maxRows);
    end = found.length === maxRows ? undefined : db.get(endOfScan, below, maxScanned - 1)?.id;
    if (end === undefined) return found;
    // The scan ends between two seconds, because ids within a second are not in the order of the list.
    const inSecond = end - firstCastIdAt(timestampOfCastId(end));
    const rest = db
      .all(scan, end, inSecond + 1, fid, inSecond + 1)
      .filter(({ id }) => timestampOfCastId(id) === timestampOfCastId(end ?? 0));
    return [...found, ...rest].slice(0, maxRows);
  });
  // The page is full, or the scan has read the oldest cast.
  if (end === undefined || scanned.cursor !== null) return scanned;
  if (follows <= bounds.maxMerged) return merged();
  return { rows: scanned.rows, cursor: followingFeedCursor.encode([timestampOfCastId(end), LOWEST_HASH]) };
}

/** Returns how many casts to scan for a page before the merge builds it; 0 to merge at once. */
function castsToScan(follows: number, bounds: FollowingFeedBounds): number {
  if (follows <= bounds.alwaysMergedUpTo) return 0;
  return Math.min(follows * bounds.scannedPerFollow, bounds.maxScanned);
}

function countFollows(db: IndexDatabase, fid: number): number {
  return db.get(followingOf, fid)?.following ?? 0;
}

/** An fid with more follows than this gets a feed without recasts. */
export const MAX_FOLLOWS_WITH_RECASTS = 2000;

/**
 * Returns the parentless casts of the users that an fid follows, and their recasts, newest first. A recast is sorted by its
 * own time. The casts are found as in `followingFeed`.
 */
export function followedRoots(
  db: IndexDatabase,
  query: { fid: number; limit: number; after: TimedKey | undefined; withRecasts: boolean },
  bounds: FollowingFeedBounds = BOUNDS,
): Page<ListedCast> {
  const { fid, withRecasts } = query;
  const follows = withRecasts ? countFollows(db, fid) : 0;
  if (!withRecasts || follows > MAX_FOLLOWS_WITH_RECASTS)
    return followingFeed(db, { ...query, rootsOnly: true }, bounds);
  return authorsFeed(db, {
    ...query,
    authors: { followedBy: fid, maxScanned: castsToScan(follows, bounds) },
    streams: ["roots", "recasts"],
    cursor: followingFeedCursor,
  });
}

/** The feed with replies, without recasts. */
export const following = listOf(followingFeedCursor, (db, { fid }: { readonly fid: number }, page) =>
  followingFeed(db, { fid, ...page }),
);

/** The feed without replies. */
export const followingRoots = listOf(
  followingFeedCursor,
  (db, query: { readonly fid: number; readonly withRecasts: boolean }, page) =>
    followedRoots(db, { ...query, ...page }),
);
