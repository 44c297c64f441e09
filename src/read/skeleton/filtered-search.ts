import type { IndexDatabase } from "../../index/database.ts";
import { firstCastIdAt } from "../../index/project/cast-id.ts";
import { statement } from "../../index/statement.ts";
import { cursorCodec, cutPage, type Page } from "../cursor.ts";
import { type Hash, hex } from "../hydrate/casts.ts";
import { urlsOfPlace } from "./channels.ts";
import { searchQuery } from "./search-query.ts";

/** Casts that match the words and are looked at for a page, whether or not the filters let them through. */
export const MAX_MATCHES = 20_000;

type Order = "desc_chron" | "chron";

interface Match {
  id: number;
  hash: Uint8Array;
}

type WalkParams = [query: string, above: number, below: number, maxWalked: number];
type MatchParams = [...WalkParams, fid: number | null, urlsJson: string | null, limit: number];

// Ids run in the order of time, and FTS5 walks the lists of words along them, either way.
const walkOf = (direction: "ASC" | "DESC") =>
  `SELECT rowid AS id FROM casts_fts WHERE casts_fts MATCH ?1 AND rowid > ?2 AND rowid < ?3
     ORDER BY rowid ${direction}`;
const statementsOf = (name: string, direction: "ASC" | "DESC") => ({
  matches: statement<Match, MatchParams>(
    `skeleton.filtered-search.${name}`,
    `SELECT c.id, c.hash FROM (${walkOf(direction)} LIMIT ?4) below CROSS JOIN casts c ON c.id = below.id
   WHERE (?5 IS NULL OR c.fid = ?5) AND (?6 IS NULL OR c.parent_url IN (SELECT value FROM json_each(?6)))
   LIMIT ?7`,
  ),
  end: statement<{ id: number }, WalkParams>(
    `skeleton.filtered-search.${name}-end`,
    `${walkOf(direction)} LIMIT 1 OFFSET ?4`,
  ),
});
const walks = {
  desc_chron: statementsOf("newest-first", "DESC"),
  chron: statementsOf("oldest-first", "ASC"),
} as const;

export const filteredSearchCursors = {
  desc_chron: cursorCodec("cast/search newest first", ["int"]),
  chron: cursorCodec("cast/search oldest first", ["int"]),
} as const;

/** What to search, with what the text itself says of dates taken out of it. Unix seconds. */
interface Dated {
  readonly text: string;
  readonly from: number;
  readonly until: number;
}

const DATE = /(?<=^|\s)(before|after):(\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2})?)Z?(?=\s|$)/gi;

/** Beyond every id: ids stay within 2^53 until the year 2242. */
const END_OF_TIME_SECS = 2 ** 33 - 1;

/** Reads `before:2025-04-20` and `after:2025-04-20T23:59:59` (UTC) in a text; what is no date stays a word. */
export function takeDates(asked: string): Dated {
  let from = 0;
  let until = END_OF_TIME_SECS;
  const text = asked.replaceAll(DATE, (whole, side: string, date: string) => {
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
 * Live casts that match the words, the dates in the text, and the filters, by time. The work is bounded by
 * `MAX_MATCHES`: where filters let few matches through a page may be short, or empty, before the end.
 */
export function filteredSearch(
  db: IndexDatabase,
  query: {
    asked: string;
    order: Order;
    authorFid: number | undefined;
    parentUrl: string | undefined;
    channelId: string | undefined;
    limit: number;
    after: readonly [id: number] | undefined;
  },
): Page<{ id: number; hash: Hash }> {
  const { asked, order, authorFid, limit, after } = query;
  const { text, from, until } = takeDates(asked);
  const match = searchQuery(text);
  if (match === undefined) return { rows: [], cursor: null };
  const urls = urlsOfPlace(db, query);
  const above = firstCastIdAt(from) - 1;
  const below = firstCastIdAt(until);
  const walk: WalkParams = [
    match,
    order === "chron" && after ? Math.max(above, after[0]) : above,
    order === "desc_chron" && after ? Math.min(below, after[0]) : below,
    MAX_MATCHES,
  ];
  const cursor = filteredSearchCursors[order];
  const statements = walks[order];
  const found = db.all(
    statements.matches,
    ...walk,
    authorFid ?? null,
    urls === undefined ? null : JSON.stringify(urls),
    limit + 1,
  );
  const rows = found.map(({ id, hash }) => ({ id, hash: hex(hash) }));
  const [words, lowest, highest] = walk;
  const end =
    rows.length > limit ? undefined : db.get(statements.end, words, lowest, highest, MAX_MATCHES - 1);
  if (end) return { rows, cursor: cursor.encode([end.id]) };
  return cutPage(rows, limit, (last) => cursor.encode([last.id]));
}
