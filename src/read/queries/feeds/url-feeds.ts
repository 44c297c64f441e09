import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { parentUrlFilter, parentUrlsOfChannels, resolveChannelIds } from "../../channel-names.ts";
import { type ListPage, listOf, type Page } from "../../cursor.ts";
import type { CastRef } from "../../hydrate/casts.ts";
import { visiblePage } from "../../rules/visible-page.ts";
import { type CastRules, type CastRulesRequest, openCastRules } from "../channels/cast-rules.ts";
import { castList, castPage, mergeNewestCasts, timedCursor } from "../ordered-page.ts";
import { prefixEnd } from "../users/users.ts";

const mergeUnder = statement<CastRef, [urlsJson: string, below: number, limit: number]>(
  "skeleton.parent-url-feed.merge",
  mergeNewestCasts({
    sources: { key: ["u.id"], from: "json_each(?1) j CROSS JOIN urls u ON u.url = j.value" },
    rowsOf: (urlId) => `casts WHERE parent_url_id = ${urlId}`,
    below: "?2",
    limit: "?3",
  }),
);

/**
 * Lists the live casts directly under any of the URLs, newest first. The work is one look-up per URL and one per cast of the
 * page.
 */
export const parentUrlFeed = listOf(
  timedCursor("feed/parent_urls"),
  (db, { urls }: { readonly urls: readonly string[] }, page) => mergedPage(db, urls, page),
);

/**
 * Lists the live casts of channels, newest first. A channel has several URLs. The query names it by its id, by any of its
 * URLs, or by its name in an imported registry.
 *
 * `rules` decide what is shown of registered channels; undefined shows everything.
 */
export const channelFeed = listOf(
  timedCursor("feed/channels"),
  (
    db,
    query: { readonly channels: readonly string[]; readonly rules?: CastRulesRequest | undefined },
    page,
  ) => {
    const ids = resolveChannelIds(db, query.channels);
    const urls = parentUrlsOfChannels(db, ids);
    return mergedPage(db, urls, page, query.rules && openCastRules(db, ids, query.rules));
  },
);

function mergedPage(
  db: IndexDatabase,
  urls: readonly string[],
  page: ListPage<readonly ["int", "hash"]>,
  rules?: CastRules,
): Page<CastRef> {
  // A repeated URL would repeat its casts.
  const json = JSON.stringify([...new Set(urls)]);
  return visiblePage(page, rules?.visible, (part) =>
    castPage(db, { ...part, cursor: page.cursor }, (below, maxRows) =>
      db.all(mergeUnder, json, below, maxRows),
    ),
  );
}

const castsUnder = statement<CastRef, [fid: number, urlsJson: string, below: number, limit: number]>(
  "skeleton.casts-in-channel",
  mergeNewestCasts({
    sources: { key: ["u.id"], from: "json_each(?2) j CROSS JOIN urls u ON u.url = j.value" },
    rowsOf: (urlId) => `casts WHERE fid = ?1 AND parent_url_id = ${urlId}`,
    below: "?3",
    limit: "?4",
  }),
);

/** Lists the live casts of an fid directly under any of the URLs, newest first, without those hidden in the channel. */
export const castsInChannel = listOf(
  timedCursor("feed/user/casts under URLs"),
  (
    db,
    query: {
      readonly fid: number;
      readonly parentUrl: string | undefined;
      readonly channelId: string | undefined;
    },
    page,
  ): Page<CastRef> => {
    const { fid, channelId } = query;
    const json = JSON.stringify([...new Set(parentUrlFilter(db, query) ?? [])]);
    const rules =
      channelId === undefined ? undefined : openCastRules(db, resolveChannelIds(db, [channelId]), {});
    return visiblePage(page, rules?.visible, (part) =>
      castPage(db, { ...part, cursor: page.cursor }, (below, maxRows) =>
        db.all(castsUnder, fid, json, below, maxRows),
      ),
    );
  },
);

/** Maximum number of URLs with the prefix that are merged, in alphabetical order. */
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

// A cast that embeds several of the URLs is merged once per URL.
const mergeEmbedding = statement<CastRef, [urlsJson: string, below: number, limit: number]>(
  "skeleton.embed-url-feed.merge",
  mergeNewestCasts({
    sources: { key: ["j.value"], from: "json_each(?1) j" },
    rowsOf: (url) => `cast_embed_urls WHERE url = ${url}`,
    idColumn: "cast_id",
    below: "?2",
    limit: "?3",
  }),
);

/** Maximum number of embeds in a cast, and so of merged rows per cast of the page. */
const MAX_EMBEDS = 4;

/** Lists the live casts that embed a URL with the prefix, newest first. */
export const embedUrlFeed = castList("feed by embed_url", (db, { prefix }: { readonly prefix: string }) => {
  const json = JSON.stringify(db.all(urlsFrom, prefix, prefixEnd(prefix)).map(({ url }) => url));
  return (below, maxRows) => {
    const merged = db.all(mergeEmbedding, json, below, MAX_EMBEDS * maxRows);
    return merged.filter(({ id }, at) => id !== merged[at - 1]?.id).slice(0, maxRows);
  };
});
