import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import type { Page } from "../../cursor.ts";
import type { Hash } from "../../hydrate/casts.ts";
import { prefixEnd } from "../users/users.ts";
import { type TimedKey, type TimedRow, timedCursor, timedPage, upperBound } from "./time-order.ts";

/** URLs with the prefix that are looked at, the first in alphabetical order. */
export const MAX_URLS = 500;

// Each step of the recursion goes to the next URL, past all casts that embed this one.
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
  // A recursive query with an order is a priority queue: it takes the newest row out and puts in that URL's next one.
  // A cast that embeds several of the URLs comes once for each, side by side.
  `WITH RECURSIVE below (url, timestamp, hash) AS (
     SELECT e.url, e.timestamp, e.hash FROM json_each(?1) j CROSS JOIN cast_embed_urls e ON (e.url, e.timestamp, e.hash) = (
       SELECT url, timestamp, hash FROM cast_embed_urls WHERE url = j.value AND (timestamp, hash) < (?2, ?3)
       ORDER BY timestamp DESC, hash DESC LIMIT 1)
     UNION ALL
     SELECT e.url, e.timestamp, e.hash FROM below b CROSS JOIN cast_embed_urls e ON (e.url, e.timestamp, e.hash) = (
       SELECT url, timestamp, hash FROM cast_embed_urls WHERE url = b.url AND (timestamp, hash) < (b.timestamp, b.hash)
       ORDER BY timestamp DESC, hash DESC LIMIT 1)
     ORDER BY 2 DESC, 3 DESC LIMIT ?4
   )
   SELECT DISTINCT timestamp, hash FROM below b ORDER BY timestamp DESC, hash DESC`,
);

export const embedUrlFeedCursor = timedCursor("feed by embed_url");

/** Of one cast; so many times the rows hold as many casts as are wanted. */
const MAX_EMBEDS = 4;

/** The live casts that embed a URL with the prefix, newest first. */
export function embedUrlFeed(
  db: IndexDatabase,
  query: { prefix: string; limit: number; after: TimedKey | undefined },
): Page<{ hash: Hash }> {
  const { prefix, limit, after } = query;
  const urls = db.all(urlsFrom, prefix, prefixEnd(prefix)).map(({ url }) => url);
  const rows = db.all(merge, JSON.stringify(urls), ...upperBound(after), MAX_EMBEDS * (limit + 1));
  return timedPage(rows, limit, embedUrlFeedCursor);
}
