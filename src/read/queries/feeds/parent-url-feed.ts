import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { parentUrlsOf } from "../../../protocol/channel-url.ts";
import type { CursorCodec, Page } from "../../cursor.ts";
import type { Hash } from "../../hydrate/casts.ts";
import { resolveChannelIds } from "../channels/channels.ts";
import { type TimedKey, type TimedRow, timedCursor, timedPage, upperBound } from "./time-order.ts";

const merge = statement<
  TimedRow,
  [urlsJson: string, belowTimestamp: number, belowHash: Uint8Array, limit: number]
>(
  "skeleton.parent-url-feed.merge",
  // A recursive query with an order is a priority queue: it takes the newest row out and puts in the next one under
  // the same URL.
  `WITH RECURSIVE below (url, timestamp, hash) AS (
     SELECT c.parent_url, c.timestamp, c.hash
     FROM json_each(?1) j CROSS JOIN casts c ON c.id = (
       SELECT id FROM casts WHERE parent_url = j.value AND (timestamp, hash) < (?2, ?3)
       ORDER BY timestamp DESC, hash DESC LIMIT 1)
     UNION ALL
     SELECT c.parent_url, c.timestamp, c.hash
     FROM below b CROSS JOIN casts c ON c.id = (
       SELECT id FROM casts WHERE parent_url = b.url AND (timestamp, hash) < (b.timestamp, b.hash)
       ORDER BY timestamp DESC, hash DESC LIMIT 1)
     ORDER BY 2 DESC, 3 DESC LIMIT ?4
   )
   SELECT timestamp, hash FROM below b`,
);

export const parentUrlFeedCursor = timedCursor("feed/parent_urls");
export const channelFeedCursor = timedCursor("feed/channels");

interface FeedQuery {
  readonly limit: number;
  readonly after: TimedKey | undefined;
}

/**
 * The live casts directly under any of the URLs, newest first. The work is one lookup for each URL and one for each
 * cast of the page.
 */
export function parentUrlFeed(
  db: IndexDatabase,
  query: FeedQuery & { readonly urls: readonly string[] },
): Page<{ hash: Hash }> {
  return mergedPage(db, query.urls, query, parentUrlFeedCursor);
}

/**
 * The same for channels, which stand under several URLs each. A channel is named by its id, by any of its URLs, or by
 * the name that an imported registry has for it.
 */
export function channelFeed(
  db: IndexDatabase,
  query: FeedQuery & { readonly channels: readonly string[] },
): Page<{ hash: Hash }> {
  const urls = resolveChannelIds(db, query.channels).flatMap(parentUrlsOf);
  return mergedPage(db, urls, query, channelFeedCursor);
}

function mergedPage(
  db: IndexDatabase,
  urls: readonly string[],
  { limit, after }: FeedQuery,
  cursor: CursorCodec<readonly ["int", "hash"]>,
): Page<{ hash: Hash }> {
  // A URL that is named twice would give its casts twice.
  const json = JSON.stringify([...new Set(urls)]);
  return timedPage(db.all(merge, json, ...upperBound(after), limit + 1), limit, cursor);
}
