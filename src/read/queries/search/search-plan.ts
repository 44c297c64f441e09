import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { hasWord, matchOf, type SearchQuery, termsOf, wordsOf } from "./search-query.ts";

// For each of its segments, FTS5 stores the first key of every page with the page's number, whose last bit is a flag. A
// range within one page or two adjacent pages counts as no page. An absent key counts as the pages of the preceding key.
const pagesOfRanges = statement<{ pages: number }, [rangesJson: string]>(
  "skeleton.search-plan.pages-of-ranges",
  `WITH RECURSIVE b (segment) AS (
     SELECT min(segid) FROM casts_fts_idx
     UNION ALL
     SELECT (SELECT min(segid) FROM casts_fts_idx WHERE segid > b.segment) FROM b WHERE b.segment IS NOT NULL
   )
   SELECT coalesce(sum(max(0,
       (SELECT pgno >> 1 FROM casts_fts_idx WHERE segid = b.segment AND term > unhex(j.value ->> 1)
        ORDER BY term LIMIT 1)
       - (SELECT pgno >> 1 FROM casts_fts_idx WHERE segid = b.segment AND term <= unhex(j.value ->> 0)
          ORDER BY term DESC LIMIT 1)
       - 1)), 0) AS pages
   FROM json_each(?1) j CROSS JOIN b GROUP BY j.key ORDER BY j.key`,
);

/** Approximate number of casts listed on a page of the full-text index. */
const CASTS_PER_PAGE = 1300;
/** Minimum number of casts to check for a query of several parts, because FTS5 also reads the casts of a short list. */
const MIN_CHECKED_OF_INTERSECTION = 500;
/**
 * Maximum number of casts to check for a query of several parts, because the size of the intersection is not known in
 * advance.
 */
const MAX_CHECKED_OF_INTERSECTION = 2048;
/** Factor over the number of checks that suffices if matches are spread evenly. Beyond it, the estimate was wrong. */
const CHECK_MARGIN = 4;
/** The full-text index has separate lists for prefixes of up to this many characters. */
const LISTED_PREFIX_CHARS = 2;

/** Costs in units of checking the text of one cast, which takes 2 µs. Tests change them to select a plan. */
export interface SearchCosts {
  /** Cost per cast in the lists that FTS5 joins for a long prefix before it returns the first cast. */
  readonly joined: number;
  /** Cost per page of a frequent word that FTS5 skips before the next cast with a rare word. */
  readonly pageSkipped: number;
}

const COSTS: SearchCosts = { joined: 0.05, pageSkipped: 1 };

/** A plan for finding casts: read one list by time, and check each of its casts against the whole query. */
export interface SearchPlan {
  /** An FTS5 query that finds every cast that the whole query finds, and possibly others. */
  readonly driver: string;
  /** The FTS5 query for all words of the query. The full-text index has no positions, so it finds phrases as words. */
  readonly allWords: string;
  /** Whether `allWords` finds what the query finds: no part of it is a phrase. */
  readonly isExact: boolean;
  /** Maximum number of texts to check before FTS5 runs the whole query, which bounds the cost of a wrong estimate. */
  readonly maxChecked: number;
}

/** A candidate for the driver of a plan: the intersection of existing lists, or the union of a range of lists. */
interface Candidate {
  readonly text: string;
  readonly driver: string;
  /** The first and last keys of the lists. */
  readonly ranges: readonly (readonly [first: string, last: string])[];
  readonly isJoined: boolean;
  /** Whether the text is a shorter prefix than the one in the query, so that it finds more casts. */
  readonly isHead: boolean;
}

/**
 * Chooses the list to read: that of the part of the query with the fewest casts, estimated from the sizes of the lists. FTS5
 * itself reads the lists of all words in parallel, skips the pages that do not contain a rare word, and joins the lists of
 * all words that start with a prefix before it returns the first cast: 0.2 s if two million casts contain one. A frequent
 * prefix is replaced by its first two characters, which have a list.
 */
export function planSearch(
  db: IndexDatabase,
  query: SearchQuery,
  limit: number,
  costs: SearchCosts = COSTS,
): SearchPlan {
  const whole = allWordsOf(db, query);
  const wholeQuery = { driver: whole.allWords, ...whole, maxChecked: 0 };
  const candidates = candidatesOf(db, query);
  if (candidates.length === 1) return wholeQuery;
  const pages = pagesOf(db, candidates);
  const sized = candidates.map((candidate, at) => {
    const wholePages = pages[at] ?? 0;
    const casts = (wholePages + 0.5) * CASTS_PER_PAGE;
    return {
      ...candidate,
      casts,
      joining: candidate.isJoined ? wholePages * CASTS_PER_PAGE * costs.joined : 0,
      wholePages,
    };
  });
  const fewest = Math.min(...sized.map(({ casts }) => casts));
  const checksOf = ({ casts }: (typeof sized)[number]) => Math.min(casts, (limit * casts) / fewest);
  const costOf = (candidate: (typeof sized)[number]) => candidate.joining + checksOf(candidate);
  const best = sized.toSorted((a, b) => costOf(a) - costOf(b)).find(({ text }) => hasWord(db, text));
  const isIntersection = query.parts.length > 1;
  let wholeCost = limit;
  for (const { isHead, joining, wholePages } of sized)
    if (!isHead) wholeCost += joining + (isIntersection ? wholePages * costs.pageSkipped : 0);
  if (best === undefined || best.driver === whole.allWords || costOf(best) >= wholeCost) return wholeQuery;
  const maxChecked = isIntersection
    ? Math.min(Math.max(MIN_CHECKED_OF_INTERSECTION, wholeCost), MAX_CHECKED_OF_INTERSECTION)
    : Math.min(CHECK_MARGIN * checksOf(best), wholeCost);
  return { driver: best.driver, ...whole, maxChecked: Math.ceil(maxChecked) };
}

/** Returns the FTS5 query for all words of a query, and whether none of its parts is a phrase. */
function allWordsOf(
  db: IndexDatabase,
  { parts, endsWithPrefix }: SearchQuery,
): Pick<SearchPlan, "allWords" | "isExact"> {
  const words = parts.map((part) => splitPhrase(db, part));
  return {
    allWords: matchOf(words.flat(), endsWithPrefix),
    isExact: words.every(({ length }) => length === 1),
  };
}

/** Returns the words of a text that FTS5 would treat as a phrase, and any other text unchanged. */
function splitPhrase(db: IndexDatabase, text: string): string[] {
  const words = termsOf(db, text);
  return words.length > 1 ? words : [text];
}

function candidatesOf(db: IndexDatabase, { parts, endsWithPrefix }: SearchQuery): Candidate[] {
  const end = endsWithPrefix ? parts.at(-1) : undefined;
  const candidates = (end === undefined ? parts : parts.slice(0, -1)).map(
    (text): Candidate => ({
      text,
      driver: matchOf(splitPhrase(db, text), false),
      ranges: wordsOf(text).map((word) => listRange(0, word)),
      isJoined: false,
      isHead: false,
    }),
  );
  if (end === undefined) return candidates;
  candidates.push({ ...prefixCandidate(db, end), isHead: false });
  const head = headOf(end);
  if (head !== undefined) candidates.push({ ...prefixCandidate(db, head), isHead: true });
  return candidates;
}

function prefixCandidate(db: IndexDatabase, text: string): Omit<Candidate, "isHead"> {
  const words = wordsOf(text);
  const last = words.pop() ?? "";
  const { length } = [...last];
  const isJoined = length > LISTED_PREFIX_CHARS;
  const range = isJoined ? ([`0${last}`, `0${last}\u{10ffff}`] as const) : listRange(length, last);
  const ranges = [...words.map((word) => listRange(0, word)), range];
  return { text, driver: matchOf(splitPhrase(db, text), true), ranges, isJoined };
}

/** Returns the keys of the list of a word (`index` 0), or of a prefix with `index` characters. */
function listRange(index: number, key: string): readonly [first: string, last: string] {
  return [`${index}${key}`, `${index}${key}`];
}

/**
 * Returns the text with its last word cut to two characters, the longest prefix that has a list; undefined if the word is
 * not longer. As a prefix it finds every cast that the text finds.
 */
function headOf(text: string): string | undefined {
  const last = /[\p{L}\p{N}\p{M}]+$/u.exec(text);
  const head = /^(?:[\p{L}\p{N}]\p{M}*){2}(?=.)/u.exec(last?.[0] ?? "");
  return last && head ? text.slice(0, last.index) + head[0] : undefined;
}

/** Returns the number of pages of the full-text index that the lists of each candidate fill. */
function pagesOf(db: IndexDatabase, candidates: readonly Candidate[]): number[] {
  const hex = (key: string) => Buffer.from(key).toString("hex");
  const ranges = candidates.flatMap((candidate) => candidate.ranges);
  const rows = db.all(pagesOfRanges, JSON.stringify(ranges.map(([first, last]) => [hex(first), hex(last)])));
  const pages = rows.map((row) => row.pages);
  return candidates.map((candidate) => Math.min(...pages.splice(0, candidate.ranges.length)));
}
