import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { RE2JS } from "re2js";
import { ExpressionPool } from "../../src/matching/expressions.ts";
import { LiteralGate } from "../../src/matching/literal-gate.ts";
import { requiredLiterals } from "../../src/matching/required-literals.ts";

describe("a text has to hold, for the expression", () => {
  test.each<[string, string[] | undefined]>([
    ["gm", ["gm"]],
    ["(?i)\\bGM\\b", ["gm"]],
    ["(?i)(degen|gm|higher)", ["degen", "gm", "higher"]],
    ["gm.*friends", ["friends"]],
    ["https?://[\\w.-]*zora\\.co/", ["zora.co/"]],
    ["\\$[A-Z]{2,6}77", ["77"]],
    ["(?P<name>ab)+c{2}", ["ab"]],
    ["(?:ab){0,2}cd", ["cd"]],
    ["ab?cd+e", ["cd"]],
    ["a{2}bc", ["bc"]],
    ["a{x", ["a{x"]],
    ["ラーメン", ["ラーメン"]],
    ["a very long sentence that goes on", ["a very long sent"]],
    // One character may be anywhere, and a text may match without it.
    ["a", undefined],
    ["(gm|x)", undefined],
    ["(gm|)", undefined],
    ["(gm)?", undefined],
    ["(gm)*[a-z]+", undefined],
    ["", undefined],
    // Their other case may have another length, or there are more than two of them.
    ["(?i)éé", undefined],
    ["straße", ["stra"]],
    // Not understood.
    ["\\Qgm\\E", undefined],
    ["gm\\pL", undefined],
    ["\\x67m and more", undefined],
  ])("%s: %j", (expression, literals) => {
    expect(requiredLiterals(expression)).toEqual(literals);
  });
});

const char = fc.constantFrom(..."abAB01 .-é", "ſ", "s", "S", "K", "k", "ß", "σ", "ς", "İ", "i", "😀", "\n");
const text = fc.string({ unit: char, maxLength: 12 });
const piece = fc.oneof(
  { weight: 3, arbitrary: char },
  fc.constantFrom(
    ..."()|*+?^$.[]{}\\",
    "(?:",
    "(?i)",
    "(?i:",
    "(?P<n>",
    "{2}",
    "{0,1}",
    "{01}",
    "{,2}",
    "??",
  ),
  fc.constantFrom(
    "[ab]",
    "[^a]",
    "[]a]",
    "[^]a]",
    "[[:alpha:]]",
    "[a\\]b]",
    "\\b",
    "\\B",
    "\\w",
    "\\d",
    "\\.",
    "\\-",
  ),
  fc.constantFrom(
    "\\Q",
    "\\E",
    "\\pL",
    "\\x61",
    "\\x{62}",
    "\\n",
    "\\A",
    "\\z",
    "(a|b)",
    "(ab|sk)",
    "(?-i)",
    "(?s)",
  ),
);
const expression = fc
  .array(piece, { maxLength: 10 })
  .map((pieces) => pieces.join(""))
  .filter((source) => {
    try {
      return RE2JS.compile(source) !== undefined;
    } catch {
      return false;
    }
  });

test("the gate admits whatever matches", () => {
  let matches = 0;
  let gated = 0;
  fc.assert(
    fc.property(expression, text, text, (source, before, after) => {
      const gate = new LiteralGate<{ source: string }>();
      const member = { source };
      if (!gate.add(member)) return;
      gated += 1;
      const regex = RE2JS.compile(source);
      // Random text seldom matches: the expression itself, with its signs left out, does more often.
      const like = source.replace(/\(\?\w+\)|[\\()[\]|*+?^${}]/g, "");
      for (const subject of [before, `${before}${like}${after}`, like.toUpperCase(), like.toLowerCase()]) {
        if (!regex.matcher(subject).find()) continue;
        matches += 1;
        expect([...gate.admitted([subject])]).toEqual([member]);
      }
      gate.remove(member);
      expect([...gate.admitted([like])]).toEqual([]);
    }),
    { numRuns: Number(process.env.MATCHER_RUNS ?? 2_000) },
  );
  expect(gated).toBeGreaterThan(100);
  expect(matches).toBeGreaterThan(100);
});

describe("the gate admits", () => {
  const admitted = (sources: readonly string[], text: string) => {
    const gate = new LiteralGate<{ source: string }>();
    for (const source of sources) expect(gate.add({ source })).toBe(true);
    return [...gate.admitted([text])].map(({ source }) => source).sort();
  };

  test.each(["ship KIT", "SHIP kit", "\u017fhip \u212ait"])("%p for (?i)ship and (?i)kit", (text) => {
    expect(admitted(["(?i)ship", "(?i)KIT", "nothing"], text)).toEqual(["(?i)KIT", "(?i)ship"]);
  });

  test("only what the text holds, of many that begin or end alike", () => {
    const sources = Array.from({ length: 100 }, (_, at) => `https://x/${at}/z`);
    expect(admitted(sources, "https://x/7/z")).toEqual(["https://x/7/z"]);
    expect(admitted(sources, "see https://x/42/z, https://x/4")).toEqual(["https://x/42/z"]);
  });
});

test.each([
  { pace: "slow", msPerReading: 100, readingsOfFirst: 4, readingsOfLast: 0 },
  { pace: "fast", msPerReading: 0.1, readingsOfFirst: 4, readingsOfLast: 4 },
])("what is $pace together ends up apart or not, and matches the same", (given) => {
  let readings = 0;
  const pool = new ExpressionPool(() => {
    readings += 1;
    return readings * given.msPerReading;
  });
  // Nothing that a text has to hold: they share two shards, of which each is timed by two readings.
  for (let length = 0; length < 100; length += 1) pool.add(`\\b[a-z]{${length}}\\b`);
  const matching = () => {
    readings = 0;
    pool.turnTo(["abc", `${"a".repeat(70)} ${"-".repeat(60_000)} abcd`]);
    const lengths = pool.matching().map(({ source }) => Number(/\d+/.exec(source)));
    expect(lengths.sort((a, b) => a - b)).toEqual([0, 3, 4, 70]);
    return readings;
  };
  expect(matching()).toBe(given.readingsOfFirst);
  for (let event = 0; event < 10; event += 1) matching();
  expect(matching()).toBe(given.readingsOfLast);
});

test("an expression is kept while somebody uses it", () => {
  const pool = new ExpressionPool(() => 0);
  const matching = () => {
    pool.turnTo(["gm 7"]);
    return pool.matching().map(({ source }) => source);
  };
  const sources = ["gm", "\\d", "[", "gm"];
  const used = sources.map((source) => pool.add(source));
  expect(used.map(({ isUsable }) => isUsable)).toEqual([true, true, false, true]);
  expect(matching()).toEqual(["gm", "\\d"]);
  for (const expression of used.slice(0, 3)) pool.remove(expression);
  expect(matching()).toEqual(["gm"]);
  for (const expression of used.slice(3)) pool.remove(expression);
  expect(matching()).toEqual([]);
});
