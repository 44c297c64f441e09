import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { parentUrlsOf } from "../../../protocol/channel-url.ts";
import type { CursorCodec, Page } from "../../cursor.ts";
import type { CastRef } from "../../hydrate/cast-ids.ts";
import { resolveChannelIds } from "../channels/channels.ts";
import { mergeNewestCasts } from "../merge-newest.ts";
import { castPage, type TimedKey } from "../ordered-page.ts";
import { timedCursor } from "./time-order.ts";

const merge = statement<CastRef, [urlsJson: string, below: number, limit: number]>(
  "skeleton.parent-url-feed.merge",
  mergeNewestCasts({
    sources: { key: ["u.id"], from: "json_each(?1) j CROSS JOIN urls u ON u.url = j.value" },
    rowsOf: (urlId) => `casts WHERE parent_url_id = ${urlId}`,
    below: "?2",
    limit: "?3",
  }),
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
): Page<CastRef> {
  return mergedPage(db, query.urls, query, parentUrlFeedCursor);
}

/**
 * Returns the live casts of channels, newest first. A channel has several URLs. The query names it by its id, by any of
 * its URLs, or by its name in an imported registry.
 */
export function channelFeed(
  db: IndexDatabase,
  query: FeedQuery & { readonly channels: readonly string[] },
): Page<CastRef> {
  const urls = resolveChannelIds(db, query.channels).flatMap(parentUrlsOf);
  return mergedPage(db, urls, query, channelFeedCursor);
}

function mergedPage(
  db: IndexDatabase,
  urls: readonly string[],
  { limit, after }: FeedQuery,
  cursor: CursorCodec<readonly ["int", "hash"]>,
): Page<CastRef> {
  // A repeated URL would repeat its casts.
  const json = JSON.stringify([...new Set(urls)]);
  return castPage(db, { limit, after, cursor }, (below, maxRows) => db.all(merge, json, below, maxRows));
}
