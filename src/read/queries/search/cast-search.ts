import type { IndexDatabase } from "../../../db/index/database.ts";
import type { Page } from "../../cursor.ts";
import type { CastRef } from "../../hydrate/cast-ids.ts";
import { ABOVE_ALL_CASTS, type TimedKey } from "../ordered-page.ts";
import { searchCursor, searchPage } from "./search-page.ts";
import { searchQuery } from "./search-query.ts";

export const castSearchCursor = searchCursor("cast/search", "desc_chron");

/**
 * Returns the live casts that match a text, newest first. When few casts with all words of a phrase contain the phrase, a
 * page before the last may be short or empty.
 */
export function castSearch(
  db: IndexDatabase,
  query: { text: string; limit: number; after: TimedKey | undefined },
): Page<CastRef> {
  const { text, limit, after } = query;
  const words = searchQuery(text);
  if (words === undefined) return { rows: [], cursor: null };
  return searchPage(db, {
    query: words,
    order: "desc_chron",
    above: Number.MIN_SAFE_INTEGER,
    below: ABOVE_ALL_CASTS,
    authorFid: undefined,
    urls: undefined,
    limit,
    after,
    cursor: castSearchCursor,
  });
}
