import { describe, expect, test } from "bun:test";
import { ENGLISH_TOPICS, type Topic } from "../../src/demo/contents/english.ts";
import type { Language } from "../../src/demo/contents/other-languages.ts";
import {
  byteLength,
  createTexts,
  expand,
  MENTION_MARK,
  readGrammar,
  withMentions,
} from "../../src/demo/contents/texts.ts";
import { seededRandom } from "../../src/demo/random.ts";

const LANGUAGES: Language[] = ["en", "ja", "ko", "zh", "es", "pt"];
const TOPICS = Object.keys(ENGLISH_TOPICS) as Topic[];

describe("grammar", () => {
  test("fills a repeated name with different alternatives, and with the same one where marked", () => {
    const grammar = readGrammar("\ngreeting: {who} and {who}, not {who'}'s | \nwho: ann | bo\n");
    const seen = new Set<string>();
    for (let seed = 0; seed < 40; seed++) seen.add(expand(grammar, "greeting", seededRandom(`${seed}`)));
    expect([...seen].sort()).toEqual(["", "Ann and bo, not bo's", "Bo and ann, not ann's"]);
  });

  test("throws for an unknown name", () => {
    expect(() => expand(readGrammar("a: {b}"), "a", seededRandom("x"))).toThrow('no "b"');
  });
});

describe("texts", () => {
  test("mention positions count bytes, not characters", () => {
    const draft = `猫 ${MENTION_MARK} é ${MENTION_MARK}!`;
    expect(withMentions(draft, [7, 9])).toEqual({
      text: "猫  é !",
      mentions: [7, 9],
      mentionsPositions: [4, 8],
    });
  });

  test("every language and topic has every kind of text, within the size of its cast type", () => {
    const texts = createTexts();
    const random = seededRandom("sizes");
    for (const language of LANGUAGES) {
      for (const topic of TOPICS) {
        const voice = { language, topic };
        for (let round = 0; round < 20; round++) {
          for (const text of [texts.post(voice, random), texts.smallTalk(voice, random)]) {
            expect(byteLength(text)).toBeWithin(1, 321);
          }
          expect(byteLength(texts.reply(voice, random))).toBeWithin(1, 321);
          expect(byteLength(texts.followUp(voice, random))).toBeWithin(1, 321);
          expect(byteLength(texts.quoteComment(voice, random))).toBeWithin(1, 321);
          expect(byteLength(texts.bio(voice, random))).toBeWithin(1, 257);
          expect(byteLength(texts.longCast(topic, random))).toBeWithin(321, 1025);
        }
        expect(byteLength(texts.article(topic, random))).toBeWithin(1025, 10_001);
      }
    }
  });
});

describe("seeded random", () => {
  test("the same seed produces the same numbers and another seed others, spread over [0, 1)", () => {
    const draw = (seed: string) => {
      const random = seededRandom(seed);
      return Array.from({ length: 5000 }, () => random.next());
    };
    expect(draw("a")).toEqual(draw("a"));
    expect(draw("a")).not.toEqual(draw("b"));
    const tenths = Array.from({ length: 10 }, () => 0);
    for (const value of draw("spread"))
      tenths[Math.floor(value * 10)] = (tenths[Math.floor(value * 10)] ?? 0) + 1;
    for (const count of tenths) expect(count).toBeWithin(400, 601);
  });

  test("weights determine the frequency of an index, and a shuffle retains every item", () => {
    const random = seededRandom("weights");
    const counts = [0, 0, 0];
    for (let round = 0; round < 4000; round++) {
      const index = random.weighted([1, 0, 3]);
      counts[index] = (counts[index] ?? 0) + 1;
    }
    expect(counts[1]).toBe(0);
    expect((counts[2] ?? 0) / (counts[0] ?? 1)).toBeWithin(2.5, 3.5);
    expect(random.shuffled([1, 2, 3, 4]).sort()).toEqual([1, 2, 3, 4]);
  });
});
