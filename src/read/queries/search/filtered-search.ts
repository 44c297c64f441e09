import type { IndexDatabase } from "../../../db/index/database.ts";
import { firstCastIdAt } from "../../../db/index/project/cast-id.ts";
import { cursorCodec, cutPage, type Page } from "../../cursor.ts";
import { type Hash, hex } from "../../hydrate/casts.ts";
import { parentUrlFilter } from "../channels/channels.ts";
import { searchQuery } from "./search-query.ts";
import { type Order, scanMatches } from "./search-scan.ts";

export const filteredSearchCursors = {
  desc_chron: cursorCodec("cast/search newest first", ["int"]),
  chron: cursorCodec("cast/search oldest first", ["int"]),
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
    after: readonly [id: number] | undefined;
  },
): Page<{ id: number; hash: Hash }> {
  const { order, authorFid, limit, after } = query;
  const { text, from, until } = extractDates(query.text);
  const words = searchQuery(text);
  if (words === undefined) return { rows: [], cursor: null };
  const above = firstCastIdAt(from) - 1;
  const below = firstCastIdAt(until);
  const { rows, stoppedAt } = scanMatches(db, {
    query: words,
    order,
    above: order === "chron" && after ? Math.max(above, after[0]) : above,
    below: order === "desc_chron" && after ? Math.min(below, after[0]) : below,
    authorFid,
    urls: parentUrlFilter(db, query),
    limit: limit + 1,
  });
  const found = rows.map(({ id, hash }) => ({ id, hash: hex(hash) }));
  const cursor = filteredSearchCursors[order];
  if (stoppedAt !== undefined) return { rows: found, cursor: cursor.encode([stoppedAt]) };
  return cutPage(found, limit, (last) => cursor.encode([last.id]));
}
