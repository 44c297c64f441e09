import type { IndexDatabase } from "../../../db/index/database.ts";
import { cursorCodec, cutPage, type Page } from "../../cursor.ts";
import { type Hash, hex } from "../../hydrate/casts.ts";
import { searchQuery } from "./search-query.ts";
import { scanMatches } from "./search-scan.ts";

export const castSearchCursor = cursorCodec("cast/search", ["int"]);

/** Returns the live casts that match a text, newest first. */
export function castSearch(
  db: IndexDatabase,
  query: { text: string; limit: number; after: readonly [id: number] | undefined },
): Page<{ id: number; hash: Hash }> {
  const { text, limit, after } = query;
  const words = searchQuery(text);
  if (words === undefined) return { rows: [], cursor: null };
  const { rows } = scanMatches(db, {
    query: words,
    order: "desc_chron",
    above: Number.MIN_SAFE_INTEGER,
    below: after?.[0] ?? Number.MAX_SAFE_INTEGER,
    authorFid: undefined,
    urls: undefined,
    limit: limit + 1,
  });
  const found = rows.map(({ id, hash }) => ({ id, hash: hex(hash) }));
  return cutPage(found, limit, (last) => castSearchCursor.encode([last.id]));
}
