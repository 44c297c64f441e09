import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import type { Page } from "../../cursor.ts";
import type { CastRef } from "../../hydrate/cast-ids.ts";
import { mergeNewestCasts } from "../merge-newest.ts";
import { castPage, type TimedKey } from "../ordered-page.ts";
import { prefixEnd } from "../users/users.ts";
import { timedCursor } from "./time-order.ts";

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

// A cast that embeds several of the URLs is merged once for each.
const merge = statement<CastRef, [urlsJson: string, below: number, limit: number]>(
  "skeleton.embed-url-feed.merge",
  mergeNewestCasts({
    sources: { key: ["j.value"], from: "json_each(?1) j" },
    rowsOf: (url) => `cast_embed_urls WHERE url = ${url}`,
    idColumn: "cast_id",
    below: "?2",
    limit: "?3",
  }),
);

export const embedUrlFeedCursor = timedCursor("feed by embed_url");

/** The most embeds of one cast, and so the most merged rows for one cast of the page. */
const MAX_EMBEDS = 4;

/** Returns the live casts that embed a URL with the prefix, newest first. */
export function embedUrlFeed(
  db: IndexDatabase,
  query: { prefix: string; limit: number; after: TimedKey | undefined },
): Page<CastRef> {
  const { prefix, limit, after } = query;
  const urls = db.all(urlsFrom, prefix, prefixEnd(prefix)).map(({ url }) => url);
  const json = JSON.stringify(urls);
  return castPage(db, { limit, after, cursor: embedUrlFeedCursor }, (below, maxRows) => {
    const merged = db.all(merge, json, below, MAX_EMBEDS * maxRows);
    return merged.filter(({ id }, at) => id !== merged[at - 1]?.id).slice(0, maxRows);
  });
}
