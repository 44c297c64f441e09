import type { IndexDatabase } from "../../index/database.ts";
import { statement } from "../../index/statement.ts";
import { cursorCodec, cutPage, type Page } from "../cursor.ts";
import { type Hash, hex } from "../hydrate/casts.ts";
import { searchQuery } from "./search-query.ts";

const matches = statement<{ id: number; hash: Uint8Array }, [query: string, beforeId: number, limit: number]>(
  "skeleton.cast-search",
  `SELECT c.id, c.hash FROM casts_fts CROSS JOIN casts c ON c.id = casts_fts.rowid
   WHERE casts_fts MATCH ? AND casts_fts.rowid < ? ORDER BY casts_fts.rowid DESC LIMIT ?`,
);

export const castSearchCursor = cursorCodec("cast/search", ["int"]);

/**
 * Live casts that match, newest first. Ids run in the order of time, and FTS5 walks the lists of the words from the
 * greatest id down: a page reads as far as it needs, but for a prefix of three or more characters, whose words' lists
 * are joined first, and for words that hardly ever meet, whose lists are read to the end of the shorter one.
 */
export function castSearch(
  db: IndexDatabase,
  query: { asked: string; limit: number; after: readonly [id: number] | undefined },
): Page<{ id: number; hash: Hash }> {
  const { asked, limit, after } = query;
  const match = searchQuery(asked);
  if (match === undefined) return { rows: [], cursor: null };
  const found = db.all(matches, match, after?.[0] ?? Number.MAX_SAFE_INTEGER, limit + 1);
  const rows = found.map(({ id, hash }) => ({ id, hash: hex(hash) }));
  return cutPage(rows, limit, (last) => castSearchCursor.encode([last.id]));
}
