import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type IndexDatabase, openIndexInMemory } from "../../src/db/index/database.ts";
import { planSearch, type SearchPlan } from "../../src/read/queries/search/search-plan.ts";
import {
  hasWord,
  matchOf,
  type SearchQuery,
  searchQuery,
  termsOf,
} from "../../src/read/queries/search/search-query.ts";
import { MAX_SCANNED, type Order, scanMatches } from "../../src/read/queries/search/search-scan.ts";
import { hashFrom, insertCast } from "../support/read-model.ts";

const AT = 1_700_000_000;
const CHANNEL = "https://farcaster.xyz/~/channel/bread";

/** Words with common prefixes, so that prefixes find several and shorter prefixes find more. */
const WORDS = ["bread", "breads", "break", "brown", "b", "don't", "dont", "日本語", "Éclair", "eclat", "gm"];
const anyText = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 5 });
const searchText = fc
  .array(
    fc.constantFrom(
      ...WORDS,
      "brea",
      "brez",
      "bre",
      "br",
      "ÉCL",
      "e\u0301cl",
      "日",
      '"gm bread"',
      '"gm"',
      "\u{19b0}",
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) => parts.join(" "));

function fill(db: IndexDatabase, texts: readonly (readonly string[])[]): void {
  db.transaction(() => {
    for (const [n, words] of texts.entries()) {
      const parent = { $case: "parentUrl" as const, value: CHANNEL };
      const body = { text: words.join(" "), ...(n % 3 === 0 && { parent }) };
      insertCast(db, { fid: 1 + (n % 4), at: AT + (n >> 1), hash: hashFrom(`${n}`), body });
    }
  });
}

/** The words of a text: the index has no positions of words, so it has no phrases. */
function wordsIn(db: IndexDatabase, text: string): string[] {
  const words = termsOf(db, text);
  return words.length > 1 ? words : [text];
}

/** The plan of plain FTS5, and all other plans. */
function plansFor(db: IndexDatabase, query: SearchQuery): { alone: SearchPlan; others: SearchPlan[] } {
  const { parts, endsWithPrefix } = query;
  const whole = parts.slice(0, endsWithPrefix ? -1 : undefined).filter((text) => hasWord(db, text));
  const end = [...(parts.at(-1) ?? "")];
  const heads = endsWithPrefix ? end.map((_, at) => end.slice(0, at + 1).join("")) : [];
  const drivers = [
    ...whole.map((text) => matchOf(wordsIn(db, text), false)),
    ...heads.filter((text) => hasWord(db, text)).map((text) => matchOf(wordsIn(db, text), true)),
  ];
  const planned = planSearch(db, query, 1);
  const { allWords, isExact } = planned;
  const others = drivers.flatMap((driver) =>
    [0, 1, 64, 1e6].map((maxChecked) => ({ driver, allWords, isExact, maxChecked })),
  );
  return { alone: { driver: allWords, allWords, isExact, maxChecked: 0 }, others: [...others, planned] };
}

describe("scanMatches with any plan", () => {
  test("finds the casts that plain FTS5 finds, in the same order, with any filters and page size", () => {
    fc.assert(
      fc.property(
        fc.array(anyText, { minLength: 60, maxLength: 160 }),
        searchText,
        fc.constantFrom<Order>("chron", "desc_chron"),
        fc.constantFrom(undefined, 2),
        fc.constantFrom(undefined, [CHANNEL]),
        fc.constantFrom(1, 7, 1000),
        (texts, text, order, authorFid, urls, limit) => {
          const query = searchQuery(text);
          if (query === undefined) return;
          using db = openIndexInMemory();
          fill(db, texts);
          const { alone, others } = plansFor(db, query);
          const whole = (plan: SearchPlan) => {
            const ids: number[] = [];
            let [above, below] = [0, Number.MAX_SAFE_INTEGER];
            for (;;) {
              const search = { query, order, above, below, authorFid, urls, limit };
              const { rows, stoppedAt } = scanMatches(db, search, plan);
              expect(stoppedAt).toBeUndefined();
              ids.push(...rows.map(({ id }) => id));
              const last = rows.at(-1);
              if (last === undefined || rows.length < limit) return ids;
              if (order === "chron") above = last.id;
              else below = last.id;
            }
          };
          const expected = whole(alone);
          for (const plan of others) expect({ plan, ids: whole(plan) }).toEqual({ plan, ids: expected });
        },
      ),
      { numRuns: 150 },
    );
  });
});

test("scanMatches with filters stops after MAX_SCANNED casts, and the next page continues from there", () => {
  using db = openIndexInMemory();
  db.transaction(() => {
    for (let n = 0; n < MAX_SCANNED + 2; n++)
      insertCast(db, { fid: n < 2 ? 2 : 1, at: AT + n, hash: hashFrom(`${n}`), body: { text: "gm" } });
  });
  const query = searchQuery("gm");
  if (query === undefined) throw new Error("no word");
  const range = { above: 0, below: Number.MAX_SAFE_INTEGER };
  const search = { query, authorFid: 2, urls: undefined, order: "desc_chron", limit: 3, ...range } as const;
  const first = scanMatches(db, search);
  expect(first.rows).toEqual([]);
  const rest = scanMatches(db, { ...search, below: first.stoppedAt ?? 0 });
  expect(rest.rows).toHaveLength(2);
  expect(rest.stoppedAt).toBeUndefined();
});

describe("planSearch", () => {
  /** Enough casts for the lists of their words to fill several pages. */
  const db = openIndexInMemory();
  fill(
    db,
    Array.from({ length: 6000 }, (_, n) =>
      n % 5 === 0 ? ["brown", "gm"] : ["bread", "gm", "日本", "éclair"],
    ),
  );
  const driverOf = (text: string, costs = { joined: 1, pageSkipped: 1000 }) => {
    const query = searchQuery(text);
    return query && planSearch(db, query, 10, costs).driver;
  };

  test("chooses the list of the part that the fewest casts contain", () => {
    expect(driverOf('gm "bread"')).toBe('"bread"');
    expect(driverOf('gm "brown"')).toBe('"brown"');
    expect(driverOf('"gm" "brown" bread')).toBe('"brown"');
    expect(driverOf('"bread"')).toBe('"bread"');
  });

  test("replaces a frequent prefix by its first two characters in any script", () => {
    expect(driverOf("bread")).toBe('"br" *');
    expect(driverOf("éclair")).toBe('"éc" *');
    expect(driverOf("e\u0301c\u0327lair")).toBe('"e\u0301c\u0327" *');
    expect(driverOf("br")).toBe('"br" *');
  });

  test("runs the whole query with FTS5 when that costs less", () => {
    expect(driverOf("bread", { joined: 0, pageSkipped: 0 })).toBe('"bread" *');
    expect(driverOf("gm bread", { joined: 0, pageSkipped: 0 })).toBe('"gm" "bread" *');
  });

  test("never chooses the list of a text in which FTS5 finds no word", () => {
    // A letter in today's Unicode, but a mark in the Unicode of FTS5.
    expect(driverOf('"\u{19b0}" gm bread')).not.toBe('"\u{19b0}"');
    expect(driverOf("\u{19b0}\u{19b0}bread")).toBe('"\u{19b0}\u{19b0}bread" *');
  });
});
