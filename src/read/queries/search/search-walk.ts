import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { planSearch, type SearchPlan } from "./search-plan.ts";
import type { SearchQuery } from "./search-query.ts";
import { textsFound } from "./text-matcher.ts";

export type Order = "desc_chron" | "chron";

interface Found {
  id: number;
  hash: Uint8Array;
  text: string;
}

// Ids run in the order of time, and FTS5 walks the list of a word along them, either way.
const walkOf = (name: string, direction: "ASC" | "DESC") =>
  statement<{ id: number }, [query: string, above: number, below: number, limit: number]>(
    `skeleton.search-walk.${name}`,
    `SELECT rowid AS id FROM casts_fts WHERE casts_fts MATCH ? AND rowid > ? AND rowid < ?
     ORDER BY rowid ${direction} LIMIT ?`,
  );
const walks = { desc_chron: walkOf("newest-first", "DESC"), chron: walkOf("oldest-first", "ASC") } as const;

const castsOf = statement<Found, [idsJson: string, fid: number | null, urlsJson: string | null]>(
  "skeleton.search-walk.casts",
  `SELECT c.id, c.hash, c.text FROM json_each(?1) j CROSS JOIN casts c ON c.id = j.value
   WHERE (?2 IS NULL OR c.fid = ?2) AND (?3 IS NULL OR c.parent_url IN (SELECT value FROM json_each(?3)))`,
);

/** Casts that are looked at for a page with filters, whether or not they let them through. */
export const MAX_LOOKED_AT = 20_000;
const FIRST_CHUNK = 64;
const CHUNK_GROWTH = 4;
/** Casts that tell how many more a page will take. */
const SAMPLE = 256;

interface Search {
  readonly query: SearchQuery;
  readonly order: Order;
  /** Ids at the ends of the range, which are not in it. */
  readonly above: number;
  readonly below: number;
  readonly authorFid: number | undefined;
  readonly urls: readonly string[] | undefined;
  readonly wanted: number;
}

/** Live casts by time, and where the search for more of them ended before the last one. */
interface Walked {
  readonly rows: readonly Found[];
  readonly gaveUpAt: number | undefined;
}

/**
 * The first casts of a range of ids that match the query and the filters. Walks the list that the plan names, in chunks,
 * and asks of each cast whether it matches the whole. With filters the walk is bounded by `MAX_LOOKED_AT` casts; without
 * them FTS5 is left alone with the query where the plan comes to nothing.
 */
export function walkMatches(
  db: IndexDatabase,
  { query, order, above, below, authorFid, urls, wanted }: Search,
  { driver, maxChecked }: SearchPlan = planSearch(db, query, wanted),
): Walked {
  const urlsJson = urls === undefined ? null : JSON.stringify(urls);
  const isFiltered = authorFid !== undefined || urls !== undefined;
  const rows: Found[] = [];
  let range: [above: number, below: number] = [above, below];
  let last: number | undefined;
  /** Looks at the next casts of a list; says whether there may be more. */
  const lookAt = (list: string, limit: number): boolean => {
    const ids = db.all(walks[order], list, ...range, limit).map(({ id }) => id);
    const casts = db.all(castsOf, JSON.stringify(ids), authorFid ?? null, urlsJson);
    rows.push(...(list === query.match ? casts : matching(db, casts, query)));
    last = ids.at(-1) ?? last;
    if (last !== undefined) range = order === "chron" ? [last, below] : [above, last];
    return ids.length === limit;
  };
  const maxLookedAt = isFiltered ? MAX_LOOKED_AT : driver === query.match ? 0 : maxChecked;
  let chunk = Math.max(FIRST_CHUNK, 2 * wanted);
  for (let lookedAt = 0; lookedAt < maxLookedAt; ) {
    const limit = Math.min(chunk, maxLookedAt - lookedAt);
    if (!lookAt(driver, limit) || rows.length >= wanted)
      return { rows: rows.slice(0, wanted), gaveUpAt: undefined };
    lookedAt += limit;
    const expected = (lookedAt * (wanted - rows.length)) / rows.length;
    if (!isFiltered && lookedAt >= SAMPLE && expected > maxLookedAt - lookedAt) break;
    // With some to spare, so that this one mostly fills the page.
    chunk = Math.ceil(Math.max(FIRST_CHUNK, Math.min(CHUNK_GROWTH * chunk, 1.5 * expected)));
  }
  if (isFiltered) return { rows, gaveUpAt: last };
  lookAt(query.match, wanted - rows.length);
  return { rows, gaveUpAt: undefined };
}

function matching(db: IndexDatabase, casts: readonly Found[], { match }: SearchQuery): Found[] {
  const texts = casts.map(({ text }) => text);
  return textsFound(db, texts, match).flatMap((at) => casts[at] ?? []);
}
