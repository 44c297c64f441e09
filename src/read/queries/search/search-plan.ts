import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { matchOf, type SearchQuery, wordsOf } from "./search-query.ts";
import { hasWord } from "./text-matcher.ts";

// FTS5 keeps for each of its segments the first key of every page beside that page's number, whose last bit is a flag. What
// lies within one page, or on two side by side, counts as no page; a key that is not there, behind one that fills pages,
// as those pages.
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

/** Casts that a page of the full-text index lists, about. */
const CASTS_PER_PAGE = 700;
/** Where lists meet, FTS5 alone looks at the casts of a short one too: so many are checked at least. */
const MIN_CHECKED_OF_INTERSECTION = 500;
/** How often lists meet nobody knows before: so many are checked at most. */
const MAX_CHECKED_OF_INTERSECTION = 2048;
/** Checks for each that would do were the casts of a list spread evenly; with more the guess was wrong. */
const CHECK_MARGIN = 4;
/** The full-text index has lists of its own for prefixes of up to so many characters. */
const LISTED_PREFIX_CHARS = 2;

/** What finding casts costs, in units of checking the text of one, which takes 2 µs. Tests make a way cheap or dear. */
export interface SearchCosts {
  /** Of each cast in the lists that FTS5 joins before a long prefix finds the first one. */
  readonly joined: number;
  /** Of each page of a frequent word that FTS5 passes over on its way to the next cast with a rare one. */
  readonly pageSkipped: number;
}

const COSTS: SearchCosts = { joined: 0.05, pageSkipped: 1 };

/** How to find casts: those of one list, by time, each asked whether it matches the whole. */
export interface SearchPlan {
  /** An FTS5 query that finds all that the whole finds, and maybe more. */
  readonly driver: string;
  /** Texts to check before FTS5 is left alone with the whole, so that a wrong guess costs little. */
  readonly maxChecked: number;
}

/** A way to the casts: by lists that are there and meet, or by all those of a range joined. */
interface Candidate {
  readonly text: string;
  readonly driver: string;
  /** First and last keys of the lists. */
  readonly ranges: readonly (readonly [first: string, last: string])[];
  readonly isJoined: boolean;
  /** Stands for a part of the query that finds less. */
  readonly isHead: boolean;
}

/**
 * Chooses the list that is walked: that of the part which the fewest casts hold, as far as the sizes of lists tell. FTS5 by
 * itself walks the lists of all words at once, page by page past what a rare word is not in, and joins the lists of all
 * words that begin with a prefix before it says the first cast: 0.2 s where two million casts hold one. A frequent prefix
 * gives way to its first two characters, whose list is there.
 */
export function planSearch(
  db: IndexDatabase,
  query: SearchQuery,
  wanted: number,
  costs: SearchCosts = COSTS,
): SearchPlan {
  const alone = { driver: query.match, maxChecked: 0 };
  const ways = candidatesOf(query);
  if (ways.length === 1) return alone;
  const pages = pagesOf(db, ways);
  const sized = ways.map((way, at) => {
    const wholePages = pages[at] ?? 0;
    const casts = (wholePages + 0.5) * CASTS_PER_PAGE;
    return {
      ...way,
      casts,
      joining: way.isJoined ? wholePages * CASTS_PER_PAGE * costs.joined : 0,
      wholePages,
    };
  });
  const least = Math.min(...sized.map(({ casts }) => casts));
  const checksOf = ({ casts }: (typeof sized)[number]) => Math.min(casts, (wanted * casts) / least);
  const costOf = (way: (typeof sized)[number]) => way.joining + checksOf(way);
  const best = sized.toSorted((a, b) => costOf(a) - costOf(b)).find(({ text }) => hasWord(db, text));
  const meet = query.parts.length > 1;
  let aloneCost = wanted;
  for (const { isHead, joining, wholePages } of sized)
    if (!isHead) aloneCost += joining + (meet ? wholePages * costs.pageSkipped : 0);
  if (best === undefined || best.driver === query.match || costOf(best) >= aloneCost) return alone;
  const maxChecked = meet
    ? Math.min(Math.max(MIN_CHECKED_OF_INTERSECTION, aloneCost), MAX_CHECKED_OF_INTERSECTION)
    : Math.min(CHECK_MARGIN * checksOf(best), aloneCost);
  return { driver: best.driver, maxChecked: Math.ceil(maxChecked) };
}

function candidatesOf({ parts, endsWithPrefix }: SearchQuery): Candidate[] {
  const end = endsWithPrefix ? parts.at(-1) : undefined;
  const ways = (end === undefined ? parts : parts.slice(0, -1)).map(
    (text): Candidate => ({
      text,
      driver: matchOf([text], false),
      ranges: wordsOf(text).map((word) => listRange(0, word)),
      isJoined: false,
      isHead: false,
    }),
  );
  if (end === undefined) return ways;
  ways.push({ ...prefixCandidate(end), isHead: false });
  const head = headOf(end);
  if (head !== undefined) ways.push({ ...prefixCandidate(head), isHead: true });
  return ways;
}

function prefixCandidate(text: string): Omit<Candidate, "isHead"> {
  const words = wordsOf(text);
  const last = words.pop() ?? "";
  const { length } = [...last];
  const isJoined = length > LISTED_PREFIX_CHARS;
  const range = isJoined ? ([`0${last}`, `0${last}\u{10ffff}`] as const) : listRange(length, last);
  const ranges = [...words.map((word) => listRange(0, word)), range];
  return { text, driver: matchOf([text], true), ranges, isJoined };
}

/** The list of a word (`index` 0), or of a prefix of so many characters. */
function listRange(index: number, key: string): readonly [first: string, last: string] {
  return [`${index}${key}`, `${index}${key}`];
}

/** The text with no more of its last word than there is a list for; as a prefix it finds whatever the text finds. */
function headOf(text: string): string | undefined {
  const last = /[\p{L}\p{N}\p{M}]+$/u.exec(text);
  const head = /^(?:[\p{L}\p{N}]\p{M}*){2}(?=.)/u.exec(last?.[0] ?? "");
  return last && head ? text.slice(0, last.index) + head[0] : undefined;
}

/** How many pages of the full-text index each way lies on. */
function pagesOf(db: IndexDatabase, ways: readonly Candidate[]): number[] {
  const hex = (key: string) => Buffer.from(key).toString("hex");
  const ranges = ways.flatMap((way) => way.ranges);
  const rows = db.all(pagesOfRanges, JSON.stringify(ranges.map(([first, last]) => [hex(first), hex(last)])));
  const pages = rows.map((row) => row.pages);
  return ways.map((way) => Math.min(...pages.splice(0, way.ranges.length)));
}
