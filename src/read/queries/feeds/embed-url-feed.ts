import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import type { Page } from "../../cursor.ts";
import type { Hash } from "../../hydrate/casts.ts";
import { mergeNewestRows } from "../merge-newest.ts";
import { prefixEnd } from "../users/users.ts";
import { type TimedKey, type TimedRow, timedCursor, timedPage, upperBound } from "./time-order.ts";

/** The most URLs with the prefix that are merged, the first ones in alphabetical order. */
export const MAX_URLS = 500;

// Each step of the recursion seeks the next URL and skips the casts that embed the current one.
const urlsFrom = statement<{ url: string }, [prefix: string, prefixEnd: string]>(
  "skeleton.embed-url-feed.urls",
  `WITH RECURSIVE below (url) AS (
     SELECT (SELECT url FROM cast_embed_urls WHERE url >= ?1 AND url < ?2 ORDER BY url LIMIT 1)
     UNION ALL
     SELECT (SELECT url FROM cast_embed_urls WHERE url > b.url AND url < ?2 ORDER BY url LIMIT 1)
     FROM below b WHERE b.url IS NOT NULL
     LIMIT ${MAX_URLS}
   )
   SELECT url FROM below b WHERE url IS NOT NULL`,
);

const merge = statement<
  TimedRow,
  [urlsJson: string, belowTimestamp: number, belowHash: Uint8Array, limit: number]
>(
  "skeleton.embed-url-feed.merge",
  // A cast that embeds several of the URLs is merged once for each.
  `${mergeNewestRows({ table: "cast_embed_urls", sourceColumn: "url", rowKey: ["url", "timestamp", "hash"] })}
   SELECT DISTINCT timestamp, hash FROM below b ORDER BY timestamp DESC, hash DESC`,
);

export const embedUrlFeedCursor = timedCursor("feed by embed_url");

/** The most embeds of one cast, and so the most merged rows for one cast of the page. */
const MAX_EMBEDS = 4;

/** Returns the live casts that embed a URL with the prefix, newest first. */
export function embedUrlFeed(
  db: IndexDatabase,
  query: { prefix: string; limit: number; after: TimedKey | undefined },
): Page<{ hash: Hash }> {
  const { prefix, limit, after } = query;
  const urls = db.all(urlsFrom, prefix, prefixEnd(prefix)).map(({ url }) => url);
  const rows = db.all(merge, JSON.stringify(urls), ...upperBound(after), MAX_EMBEDS * (limit + 1));
  return timedPage(rows, limit, embedUrlFeedCursor);
}
