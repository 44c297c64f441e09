import { firstCastIdAt, timestampOfCastId } from "../../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { parentUrlFilter, resolveChannelIds } from "../../channel-names.ts";
import { type CursorCodec, cursorCodec, type ListPage, listOf, type Page } from "../../cursor.ts";
import { type CastRef, hex } from "../../hydrate/casts.ts";
import { visiblePage } from "../../rules/visible-page.ts";
import { openCastRules } from "../channels/cast-rules.ts";
import { ABOVE_ALL_CASTS, cursorAfter, orderedPage, type TimedKey } from "../ordered-page.ts";
import { type SearchQuery, searchQuery } from "./search-query.ts";
import { type MatchRow, type Order, type ScanRequest, scanMatches } from "./search-scan.ts";

/**
 * Lists the live casts that match a text, newest first. If few casts with all words of a phrase contain the phrase, a page
 * before the last may be short or empty.
 */
export const castSearch = listOf(
  cursorCodec("cast/search", ["int", "hash"]),
  (db, { text }: { readonly text: string }, page) =>
    newestMatches(db, searchQuery(text), Number.MIN_SAFE_INTEGER, page),
);

/** Lists the live casts since a time in which the words of a topic are adjacent, newest first. */
export const topicCasts = listOf(
  cursorCodec("feed/topic", ["int", "hash"]),
  (db, { words, since }: { readonly words: readonly string[]; readonly since: number }, page) =>
    newestMatches(db, searchQuery(`"${words.join(" ")}"`), firstCastIdAt(since) - 1, page),
);

/** Returns a page of the casts above an id that match a query, by any author and under any URL. */
function newestMatches(
  db: IndexDatabase,
  query: SearchQuery | undefined,
  above: number,
  page: ListPage<readonly ["int", "hash"]>,
): Page<CastRef> {
  if (query === undefined) return { rows: [], cursor: null };
  return searchPage(db, {
    query,
    order: "desc_chron",
    above,
    below: ABOVE_ALL_CASTS,
    authorFid: undefined,
    urls: undefined,
    ...page,
  });
}

export const filteredSearchCursors = {
  desc_chron: cursorCodec("cast/search newest first", ["int", "hash"]),
  chron: cursorCodec("cast/search oldest first", ["int", "hash"]),
} as const;

/** A search text without its date operators, and their time range in Unix seconds. */
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
 * Returns the live casts that match the words and dates of the text and the filters, by time. If few casts pass the filters,
 * a page before the last may be short or empty.
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
  const { order, authorFid, channelId, limit, after } = query;
  const { text, from, until } = extractDates(query.text);
  const words = searchQuery(text);
  if (words === undefined) return { rows: [], cursor: null };
  const rules =
    channelId === undefined ? undefined : openCastRules(db, resolveChannelIds(db, [channelId]), {});
  const urls = parentUrlFilter(db, query);
  const cursor = filteredSearchCursors[order];
  return visiblePage({ limit, after, cursor }, rules?.visible, (page) =>
    searchPage(db, {
      query: words,
      order,
      above: firstCastIdAt(from) - 1,
      below: firstCastIdAt(until),
      authorFid,
      urls,
      ...page,
      cursor,
    }),
  );
}

/** Returns a page of the casts in a range of ids that match a query and filters. */
function searchPage(
  db: IndexDatabase,
  search: ScanRequest & {
    readonly after: TimedKey | undefined;
    readonly cursor: CursorCodec<readonly ["int", "hash"]>;
  },
): Page<CastRef> {
  const { order, limit, after, cursor } = search;
  let { above, below } = search;
  if (after && order === "chron") above = Math.max(above, firstCastIdAt(after[0]) - 1);
  if (after && order === "desc_chron") below = Math.min(below, firstCastIdAt(after[0] + 1));
  let stoppedAt: number | undefined;
  const { rows, hasMore } = orderedPage<MatchRow>({
    limit,
    after: after && { hash: after[1], isTied: ({ id }) => timestampOfCastId(id) === after[0] },
    direction: order === "chron" ? "asc" : "desc",
    isTied: (a, b) => timestampOfCastId(a.id) === timestampOfCastId(b.id),
    read(maxRows) {
      const found = scanMatches(db, { ...search, above, below, limit: maxRows });
      stoppedAt = found.stoppedAt;
      return found.rows;
    },
    hashesOf: (tied) => tied.map(({ hash }) => hex(hash)),
  });
  const last = hasMore ? rows.at(-1) : stoppedAt === undefined ? undefined : { id: stoppedAt };
  return {
    rows,
    cursor: cursorAfter(db, last, cursor),
    cursorAfter: (row) => cursorAfter(db, row, cursor),
  };
}
