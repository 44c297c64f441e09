import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { parentUrlsOf } from "../../../protocol/channel-url.ts";
import type { CursorCodec, Page } from "../../cursor.ts";
import type { Hash } from "../../hydrate/casts.ts";
import { resolveChannelIds } from "../channels/channels.ts";
import { mergeNewestRows } from "../merge-newest.ts";
import { type TimedKey, type TimedRow, timedCursor, timedPage, upperBound } from "./time-order.ts";

const merge = statement<
  TimedRow,
  [urlsJson: string, belowTimestamp: number, belowHash: Uint8Array, limit: number]
>(
  "skeleton.parent-url-feed.merge",
  `${mergeNewestRows({ table: "casts", sourceColumn: "parent_url", rowKey: ["id"] })}
   SELECT timestamp, hash FROM below b`,
);

export const parentUrlFeedCursor = timedCursor("feed/parent_urls");
export const channelFeedCursor = timedCursor("feed/channels");

interface FeedQuery {
  readonly limit: number;
  readonly after: TimedKey | undefined;
}

/**
 * Returns the live casts directly under any of the URLs, newest first. The work is one lookup for each URL and one for
 * each cast of the page.
 */
export function parentUrlFeed(
  db: IndexDatabase,
  query: FeedQuery & { readonly urls: readonly string[] },
): Page<{ hash: Hash }> {
  return mergedPage(db, query.urls, query, parentUrlFeedCursor);
}

/**
 * Returns the live casts of channels, newest first. A channel has several URLs. The query names it by its id, by any of
 * its URLs, or by its name in an imported registry.
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
  // A repeated URL would repeat its casts.
  const json = JSON.stringify([...new Set(urls)]);
  return timedPage(db.all(merge, json, ...upperBound(after), limit + 1), limit, cursor);
}
