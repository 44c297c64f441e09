import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { openBulkBuild } from "../../../src/db/index/bulk/open-bulk-build.ts";
import { decodeTopic, storeTopics } from "../../../src/db/index/counts/rankings.ts";
import { writeScores } from "../../../src/db/index/counts/scores.ts";
import { createTopicFinder, topicTerms } from "../../../src/ingest/topics/topics.ts";
import { startTestNode, type TestNode } from "../../support/node.ts";
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

  test("end where anything but a space separates words", () => {
    expect(terms("ramen, sushi. ramen sushi")).toEqual(["ramen", "sushi", "ramen sushi"]);
  });

  test("are whole words: nothing of a word of more than 30 letters is one", () => {
    const [longest, tooLong] = ["a".repeat(30), "b".repeat(31)];
    expect(terms(`${tooLong} ramen ${tooLong} ${longest}`)).toEqual(["ramen", longest]);
    expect(terms(`${longest} ramen`)).toEqual([longest, "ramen", `${longest} ramen`]);
  });

  test("of any text are words of 3 to 30 letters, single or in pairs", () => {
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

describe("topics of a network", () => {
  const finderOf = (node: TestNode, mode?: "imported") =>
    createTopicFinder({ db: node.db, scores: mode && { mode }, turn: async () => undefined });
  const topicsOf = async (node: TestNode, mode?: "imported") =>
    (await finderOf(node, mode).topicsAt(NOW * 1000))?.topics.map(({ ref }) => decodeTopic(ref));
  let hashes = 0;
  const writes = (node: TestNode, fid: number, text: string, hoursAgo = 2) =>
    insertCast(node.db, { fid, at: NOW - hoursAgo * HOUR, hash: hashFrom(`n${hashes++}`), body: { text } });
  const authors = (count: number, from = 1) => Array.from({ length: count }, (_, n) => from + n);

  test("count authors over all pages of casts, each author once, with a turn for other work after each page", async () => {
    using node = startTestNode({ nowSecs: NOW });
    node.db.transaction(() => {
      for (const fid of authors(5)) writes(node, fid, "ramen", 23);
      // One author fills more than a page with more terms than are held at first.
      for (let n = 0; n < 5200; n++)
        writes(node, 99, Array.from({ length: 14 }, (_, at) => wordOf(n * 14 + at)).join(", "), 12);
      for (const fid of authors(6, 5)) writes(node, fid, "ramen", 1);
    });
    let turns = 0;
    const turn = async () => void turns++;
    const found = await createTopicFinder({ db: node.db, scores: undefined, turn }).topicsAt(NOW * 1000);
    expect(found?.topics.map(({ ref }) => decodeTopic(ref))).toEqual([
      { name: "ramen", authors: [1, 2, 3, 4, 5] },
    ]);
    // Seven days, and twice the window, which has a second page.
    expect(turns).toBe(7 + 2 * 2);
  });

  test("leave the oldest casts out when the window has more uses of terms than fit in memory", async () => {
    using node = startTestNode({ nowSecs: NOW });
    node.db.transaction(() => {
      for (const fid of authors(10)) writes(node, fid, "sushi", 2);
      for (const fid of authors(10)) writes(node, fid, "ramen", 1);
    });
    const namesWith = async (maxUses: number) => {
      const finder = createTopicFinder({ db: node.db, scores: undefined, turn: async () => {}, maxUses });
      return (await finder.topicsAt(NOW * 1000))?.topics.map(({ ref }) => decodeTopic(ref).name);
    };
    expect([await namesWith(20), await namesWith(19), await namesWith(10), await namesWith(9)]).toEqual([
      ["ramen", "sushi"],
      ["ramen"],
      ["ramen"],
      [],
    ]);
  });

  test("weigh authors by their scores, whole from 0.5 on, and show those with the best first", async () => {
    using node = startTestNode({ nowSecs: NOW });
    const runId = writeScores(node.db, {
      step: "begin",
      run: { kind: "imported", at: 1, method: "csv", params: {}, seeds: [] },
    });
    const score = (fid: number) => (fid <= 12 ? 40 + fid : fid <= 24 ? 20 : 25);
    const rows = authors(26).map((fid) => ({
      ...{ fid, score: score(fid), state: 0, rank: 0, viaFid: 0, sources: null, note: null },
    }));
    writeScores(node.db, { step: "rows", runId, rows });
    writeScores(node.db, { step: "finish", runId, stats: {} });
    node.db.transaction(() => {
      for (const fid of authors(12)) writes(node, fid, "ramen");
      for (const fid of authors(12, 13)) writes(node, fid, "sushi");
      // Ten authors who weigh one together.
      for (const fid of [...authors(2, 25), ...authors(8, 200)]) writes(node, fid, "moss");
      // Many authors without a score.
      for (const fid of authors(30, 100)) writes(node, fid, "spam");
    });
    expect(await topicsOf(node, "imported")).toEqual([
      { name: "ramen", authors: [10, 11, 12, 9, 8] },
      { name: "sushi", authors: [13, 14, 15, 16, 17] },
    ]);
    expect((await topicsOf(node))?.map(({ name }) => name)).toEqual(["spam", "ramen", "sushi", "moss"]);
  });

  test("are compared with the whole days before the window, which the finder remembers by day", async () => {
    using node = startTestNode({ nowSecs: NOW });
    node.db.transaction(() => {
      for (const fid of authors(12)) {
        writes(node, fid, "ramen");
        writes(node, fid, "sushi");
        for (let day = 2; day <= 8; day++) writes(node, fid, "ramen", 24 * day);
      }
    });
    const finder = finderOf(node);
    const names = async (hours: number) =>
      (await finder.topicsAt((NOW + hours * HOUR) * 1000))?.topics.map(({ ref, score }) => [
        decodeTopic(ref).name,
        score.toFixed(3),
      ]);
    const usual = (perDay: number) => ((13 / (perDay + 3)) * Math.log(12)).toFixed(3);
    const first = await names(0);
    expect(first?.[0]).toEqual(["sushi", usual(0)]);
    expect(first?.[1]?.[0]).toBe("ramen");
    // What is written into a day that was counted does not count again.
    node.db.transaction(() => {
      for (const fid of authors(12)) writes(node, fid, "sushi", 24 * 3);
    });
    expect(await names(1)).toEqual(first ?? []);
    // Days later the casts have left the window.
    expect(await names(48)).toEqual([]);
  });

  test("are the same from a finder that remembers days as from a new one, whichever way the clock moves", async () => {
    using node = startTestNode({ nowSecs: NOW });
    node.db.transaction(() => {
      for (let day = -3; day <= 12; day++)
        for (const fid of authors(12)) writes(node, fid, "ramen", 24 * day + 2);
    });
    const remembering = finderOf(node);
    for (const days of [0, 1, 3, 2, 0]) {
      const nowMs = (NOW + days * DAY) * 1000;
      const found = await remembering.topicsAt(nowMs);
      expect(found?.topics).toHaveLength(1);
      expect(found).toEqual(await finderOf(node).topicsAt(nowMs));
    }
  });

  test("are at most 50", async () => {
    using node = startTestNode({ nowSecs: NOW });
    const words = authors(60).map(wordOf);
    node.db.transaction(() => {
      for (const fid of authors(10)) for (const word of words) writes(node, fid, word);
    });
    const found = await topicsOf(node);
    expect(found?.map(({ name }) => name)).toEqual(words.toSorted().slice(0, 50));
  });

  test("are the best of more candidates than are looked up", async () => {
    using node = startTestNode({ nowSecs: NOW });
    const [best, others] = [authors(50).map(wordOf), authors(400, 51).map(wordOf)];
    node.db.transaction(() => {
      for (const fid of authors(10)) for (const word of others) writes(node, fid, word);
      for (const fid of authors(11)) for (const word of best) writes(node, fid, word);
    });
    expect((await topicsOf(node))?.map(({ name }) => name)).toEqual(best.toSorted());
  });

  test("are no words that only share the hash of one", async () => {
    using node = startTestNode({ nowSecs: NOW });
    const [word, other] = ["vonedirara", "tominerimi"];
    expect(Bun.hash.xxHash32(word)).toBe(Bun.hash.xxHash32(other));
    node.db.transaction(() => {
      for (const fid of authors(10)) writes(node, fid, word);
      for (const fid of authors(9, 11)) writes(node, fid, other);
    });
    expect((await topicsOf(node))?.map(({ name }) => name)).toEqual([word]);
  });

  test("are a pair in place of its words where it has 60 % of their authors", async () => {
    const topicsWith = async (more: number) => {
      using node = startTestNode({ nowSecs: NOW });
      node.db.transaction(() => {
        for (const fid of authors(12)) writes(node, fid, "ramen train");
        for (const fid of authors(more, 13)) writes(node, fid, "ramen");
      });
      return (await topicsOf(node))?.map(({ name }) => name);
    };
    expect(await topicsWith(8)).toEqual(["ramen train"]);
    expect(await topicsWith(9)).toEqual(["ramen", "ramen train"]);
  });

  test("are not looked for while an index is built", async () => {
    using node = startTestNode({ nowSecs: NOW });
    openBulkBuild(node.db).append([], () => undefined);
    expect(await topicsOf(node)).toBeUndefined();
  });
});

/** A word for each number. */
function wordOf(n: number): string {
  const letters = Array.from({ length: 4 }, (_, at) =>
    String.fromCharCode(97 + (Math.floor(n / 26 ** at) % 26)),
  );
  return `q${letters.join("")}q`;
}
