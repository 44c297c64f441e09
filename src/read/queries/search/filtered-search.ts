import { firstCastIdAt } from "../../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import type { Page } from "../../cursor.ts";
import type { CastRef } from "../../hydrate/cast-ids.ts";
import { parentUrlFilter } from "../channels/channels.ts";
import type { TimedKey } from "../ordered-page.ts";
import { searchCursor, searchPage } from "./search-page.ts";
import { searchQuery } from "./search-query.ts";
import type { Order } from "./search-scan.ts";

export const filteredSearchCursors = {
  desc_chron: searchCursor("cast/search newest first", "desc_chron"),
  chron: searchCursor("cast/search oldest first", "chron"),
} as const;

/** A search text without its date operators, and their range of time in unix seconds. */
interface DatedText {
  readonly text: string;
  readonly from: number;
  readonly until: number;
}

const DATE = /(?<=^|\s)(before|after):(\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2})?)Z?(?=\s|$)/gi;

/** A time after every cast: ids stay within 2^53 until the year 2242. */
const END_OF_TIME_SECS = 2 ** 33 - 1;

/** Extracts `before:2025-04-20` and `after:2025-04-20T23:59:59` (UTC) from a text. An invalid date remains a word. */
export function extractDates(searched: string): DatedText {
  let from = 0;
  let until = END_OF_TIME_SECS;
  const text = searched.replaceAll(DATE, (whole, side: string, date: string) => {
    const atMs = Date.parse(date.includes("T") ? `${date}Z` : `${date}T00:00:00Z`);
    if (Number.isNaN(atMs) || atMs < 0) return whole;
    const at = Math.min(Math.floor(atMs / 1000), END_OF_TIME_SECS);
    if (side.toLowerCase() === "before") until = Math.min(until, at);
    else from = Math.max(from, at);
    return " ";
  });
  return { text, from, until };
}

/**
 * Returns the live casts that match the words and dates of the text and the filters, by time. When few casts pass the
 * filters, a page before the last may be short or empty.
 */
export function filteredSearch(
  db: IndexDatabase,
  query: {
    text: string;
    order: Order;
    authorFid: number | undefined;
    parentUrl: string | undefined;
    channelId: string | undefined;
    limit: number;
    after: TimedKey | undefined;
  },
): Page<CastRef> {
  const { order, authorFid, limit, after } = query;
  const { text, from, until } = extractDates(query.text);
  const words = searchQuery(text);
  if (words === undefined) return { rows: [], cursor: null };
  return searchPage(db, {
    query: words,
    order,
    above: firstCastIdAt(from) - 1,
    below: firstCastIdAt(until),
    authorFid,
    urls: parentUrlFilter(db, query),
    limit,
    after,
    cursor: filteredSearchCursors[order],
  });
}
