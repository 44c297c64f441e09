import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decodeTopic, storeTopics } from "../../../src/db/index/counts/rankings.ts";
import { createTopicFinder, topicTerms } from "../../../src/ingest/topics/topics.ts";
import { startTestNode } from "../../support/node.ts";
import { hashFrom, insertCast } from "../../support/read-model.ts";

const terms = (text: string) => [...topicTerms(text)];

describe("the terms of a text", () => {
  test("are its words and pairs, without common words, links and mentions", () => {
    expect(terms("The NEW grind of https://coffee.example/pour, with @mira: slow bread")).toEqual([
      "grind",
      "slow",
      "bread",
      "slow bread",
    ]);
  });

  test("end where anything but a space stands between words", () => {
    expect(terms("ramen, sushi. ramen sushi")).toEqual(["ramen", "sushi", "ramen sushi"]);
  });

  test("of any text are words of 3 to 30 letters, alone or in pairs", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        for (const term of topicTerms(text)) {
          const words = term.split(" ");
          expect(words.length).toBeLessThanOrEqual(2);
          for (const word of words) expect(word).toMatch(/^\p{L}[\p{L}\p{M}]{2,60}$/u);
        }
      }),
    );
  });
});

const HOUR = 3600;
const DAY = 24 * HOUR;
const NOW = 1_700_006_400;
const WORDS = ["ramen", "sushi", "train", "moss"] as const;
const AUTHORS = 16;

interface Planned {
  readonly fid: number;
  readonly hoursAgo: number;
  readonly words: readonly string[];
}

/** The definition, applied to all casts. */
function expectedTopics(casts: readonly Planned[]) {
  const authorsOf = (term: string, from: number, until: number) =>
    new Set(
      casts
        .filter(({ hoursAgo }) => NOW - hoursAgo * HOUR >= from && NOW - hoursAgo * HOUR < until)
        .filter(({ words }) => ` ${words.join(" ")} `.includes(` ${term} `))
        .map(({ fid }) => fid),
    );
  const terms = [...WORDS, ...WORDS.flatMap((a) => WORDS.filter((b) => b !== a).map((b) => `${a} ${b}`))];
  const firstDay = Math.floor((NOW - DAY) / DAY) - 7;
  const found = terms.flatMap((name) => {
    const now = authorsOf(name, NOW - DAY, NOW);
    if (now.size < 10) return [];
    const days = Array.from({ length: 7 }, (_, at) => {
      const { size } = authorsOf(name, (firstDay + at) * DAY, (firstDay + at + 1) * DAY);
      return size < 5 ? 0 : size;
    });
    const usual = days.reduce((sum, size) => sum + size, 0) / 7;
    return [{ name, authors: now, score: ((now.size + 1) / (usual + 3)) * Math.log(now.size) }];
  });
  return found
    .filter(
      ({ name, authors }) =>
        !found.some(
          (pair) =>
            pair.name !== name &&
            pair.name.split(" ").includes(name) &&
            pair.authors.size >= authors.size * 0.6,
        ),
    )
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    .map(({ name, authors }) => ({ name, authors: [...authors].sort((a, b) => a - b).slice(0, 5) }));
}

const cast = fc.record<Planned>({
  fid: fc.integer({ min: 1, max: AUTHORS }),
  hoursAgo: fc.oneof(fc.integer({ min: 1, max: 23 }), fc.integer({ min: 24, max: 9 * 24 })),
  words: fc.uniqueArray(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 }),
});

test("topics are the words and pairs that the definition gives over any casts", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(cast, { minLength: 60, maxLength: 220 }), async (casts) => {
      const node = startTestNode({ nowSecs: NOW });
      using _ = { [Symbol.dispose]: () => node[Symbol.dispose]() };
      node.db.transaction(() => {
        for (const [at, { fid, hoursAgo, words }] of casts.entries())
          insertCast(node.db, {
            fid,
            at: NOW - hoursAgo * HOUR,
            hash: hashFrom(`cast ${at}`),
            body: { text: words.join(" ") },
          });
      });
      const finder = createTopicFinder({ db: node.db, scores: undefined, turn: async () => undefined });
      const found = await finder.topicsAt(NOW * 1000 + 59 * 60_000);
      expect(found?.snapshot).toBe(NOW * 1000);
      expect(found?.topics.map(({ ref }) => decodeTopic(ref))).toEqual(expectedTopics(casts));
      if (found) storeTopics(node.db, found);
      expect(await finder.topicsAt(NOW * 1000)).toBeUndefined();
    }),
    { numRuns: 8 },
  );
});
