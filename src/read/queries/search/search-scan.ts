import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { planSearch, type SearchPlan } from "./search-plan.ts";
import { matchingTexts, type SearchQuery } from "./search-query.ts";

export type Order = "desc_chron" | "chron";

export interface MatchRow {
  id: number;
  hash: Uint8Array;
  text: string;
}

// Ids ascend with time, and FTS5 reads the list of a word by id in either direction.
const declareScan = (name: string, direction: "ASC" | "DESC") =>
  statement<{ id: number }, [query: string, above: number, below: number, limit: number]>(
    `skeleton.search-scan.${name}`,
    `SELECT rowid AS id FROM casts_fts WHERE casts_fts MATCH ? AND rowid > ? AND rowid < ?
     ORDER BY rowid ${direction} LIMIT ?`,
  );
const scans = {
  desc_chron: declareScan("newest-first", "DESC"),
  chron: declareScan("oldest-first", "ASC"),
} as const;

const castRows = statement<MatchRow, [idsJson: string, fid: number | null, urlsJson: string | null]>(
  "skeleton.search-scan.casts",
  `SELECT c.id, c.hash, c.text FROM json_each(?1) j CROSS JOIN casts c ON c.id = j.value
   WHERE (?2 IS NULL OR c.fid = ?2) AND (?3 IS NULL OR c.parent_url_id IN
     (SELECT u.id FROM json_each(?3) j CROSS JOIN urls u ON u.url = j.value))`,
);

/** Maximum number of casts read for a page with filters or phrases, whether they match or not. */
export const MAX_SCANNED = 20_000;
const FIRST_CHUNK = 64;
const CHUNK_GROWTH = 4;
/** From this many casts on, the hit rate so far predicts how many more casts the page needs. */
const SAMPLE = 256;

export interface ScanRequest {
  readonly query: SearchQuery;
  readonly order: Order;
  /** The exclusive bounds of the range of ids. */
  readonly above: number;
  readonly below: number;
  readonly authorFid: number | undefined;
  readonly urls: readonly string[] | undefined;
  readonly limit: number;
}

/** Live casts by time. `stoppedAt` is the last id read if the scan stopped at its limit before the end. */
interface ScanResult {
  readonly rows: readonly MatchRow[];
  readonly stoppedAt: number | undefined;
}

/**
 * Returns the first casts of a range of ids that match the query and the filters. Scans the list that the plan names, in
 * chunks, and checks each cast against the whole query. With filters or phrases the scan reads at most `MAX_SCANNED` casts.
 * Without filters, FTS5 runs the whole query if the plan finds too few casts.
 */
export function scanMatches(
  db: IndexDatabase,
  { query, order, above, below, authorFid, urls, limit }: ScanRequest,
  { driver, allWords, isExact, maxChecked }: SearchPlan = planSearch(db, query, limit),
): ScanResult {
  const urlsJson = urls === undefined ? null : JSON.stringify(urls);
  const isFiltered = authorFid !== undefined || urls !== undefined;
  const rows: MatchRow[] = [];
  let range: [above: number, below: number] = [above, below];
  let last: number | undefined;
  /** Reads the next casts of a list. Returns whether the list may have more. */
  const scan = (list: string, size: number): boolean => {
    const ids = db.all(scans[order], list, ...range, size).map(({ id }) => id);
    const casts = db.all(castRows, JSON.stringify(ids), authorFid ?? null, urlsJson);
    rows.push(...(isExact && list === allWords ? casts : filterMatches(db, casts, query)));
    last = ids.at(-1) ?? last;
    if (last !== undefined) range = order === "chron" ? [last, below] : [above, last];
    return ids.length === size;
  };
  let chunk = Math.max(FIRST_CHUNK, 2 * limit);
  /**
   * Reads a list until the page is full, the list ends, or its limit is reached. Returns whether the list may have more for
   * the page.
   */
  const scanInChunks = (list: string, maxScanned: number, mayStop: boolean): boolean => {
    for (let scanned = 0; scanned < maxScanned; ) {
      const size = Math.min(chunk, maxScanned - scanned);
      if (!scan(list, size) || rows.length >= limit) return false;
      scanned += size;
      const expected = (scanned * (limit - rows.length)) / rows.length;
      if (mayStop && scanned >= SAMPLE && expected > maxScanned - scanned) break;
      // 1.5 times the expected number, so that the next chunk usually fills the page.
      chunk = Math.ceil(Math.max(FIRST_CHUNK, Math.min(CHUNK_GROWTH * chunk, 1.5 * expected)));
    }
    return true;
  };
  const found = (stoppedAt?: number): ScanResult => ({ rows: rows.slice(0, limit), stoppedAt });
  if (isFiltered) return scanInChunks(driver, MAX_SCANNED, false) ? found(last) : found();
  if (driver !== allWords && !scanInChunks(driver, maxChecked, true)) return found();
  if (!isExact) return scanInChunks(allWords, MAX_SCANNED, false) ? found(last) : found();
  scan(allWords, limit - rows.length);
  return found();
}

function filterMatches(db: IndexDatabase, casts: readonly MatchRow[], { match }: SearchQuery): MatchRow[] {
  const texts = casts.map(({ text }) => text);
  return matchingTexts(db, texts, match).flatMap((at) => casts[at] ?? []);
}
