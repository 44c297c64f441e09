import { describe, expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import { RE2JS } from "re2js";
import { ExpressionPool } from "../../../src/webhooks/match/expressions/expressions.ts";
import { LiteralPrefilter } from "../../../src/webhooks/match/expressions/literal-prefilter.ts";
import { readRegexProgram } from "../../../src/webhooks/match/expressions/regex-program.ts";
import { requiredLiterals } from "../../../src/webhooks/match/expressions/required-literals.ts";
import { OwnerBudgets, type Subscriber } from "../../../src/webhooks/match/owner-budgets.ts";
import { expectOk } from "../../support/result.ts";

describe("requiredLiterals", () => {
  test.each<[string, ...string[][]]>([
    ["gm", ["gm"]],
    ["(?i)\\bGM\\b", ["gm"]],
    ["(?i)(degen|gm|higher)", ["degen", "gm", "higher"]],
    ["gm.*friends", ["friends"], ["gm"]],
    ["(?i)\\bmessage \\d*12 (of|in) a", ["message "], ["12 "], ["of", "in"], [" a"]],
    ["https?://[\\w.-]*zora\\.co/", ["zora.co/"], ["http"], ["://"]],
    ["\\$[A-Z]{2,6}77", ["77"]],
    ["(?P<name>ab)+c{2}", ["ab"]],
    ["(?:ab){0,2}cd", ["cd"]],
    ["ab?cd+e", ["cd"]],
    ["a{2}bc", ["bc"]],
    ["a{x", ["a{x"]],
    ["ラーメン", ["ラーメン"]],
    ["a very long sentence that goes on", ["a very long sent"]],
    // A single character is not selective, and a text may match without an optional one.
    ["a"],
    ["(gm|x)"],
    ["(gm|)"],
    ["(gm)?"],
    ["(gm)*[a-z]+"],
    [""],
    // Their case variants may have another length, or there are more than two.
    ["(?i)éé"],
    ["straße", ["stra"]],
    // Not parsed.
    ["\\Qgm\\E"],
    ["gm\\pL"],
    ["\\x67m and more"],
  ])("%s: %j", (expression, ...parts) => {
    expect(requiredLiterals(expression)).toEqual(parts);
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

test("the prefilter selects every expression that matches", () => {
  let matches = 0;
  let gated = 0;
  fc.assert(
    fc.property(expression, text, text, (source, before, after) => {
      const gate = new LiteralPrefilter<{ source: string }>();
      const member = { source };
      if (!gate.add(member)) return;
      gated += 1;
      const regex = RE2JS.compile(source);
      // Random text seldom matches; the expression without its metacharacters does more often.
      const like = source.replace(/\(\?\w+\)|[\\()[\]|*+?^${}]/g, "");
      for (const subject of [before, `${before}${like}${after}`, like.toUpperCase(), like.toLowerCase()]) {
        if (!regex.matcher(subject).find()) continue;
        matches += 1;
        expect([...gate.candidates([subject])]).toEqual([member]);
      }
      gate.remove(member);
      expect([...gate.candidates([like])]).toEqual([]);
    }),
    { numRuns: Number(process.env.MATCHER_RUNS ?? 2_000) },
  );
  expect(gated).toBeGreaterThan(100);
  expect(matches).toBeGreaterThan(100);
});

describe("the prefilter selects", () => {
  const admitted = (sources: readonly string[], text: string) => {
    const gate = new LiteralPrefilter<{ source: string }>();
    for (const source of sources) expect(gate.add({ source })).toBe(true);
    return [...gate.candidates([text])].map(({ source }) => source).sort();
  };

  test.each(["ship KIT", "SHIP kit", "\u017fhip \u212ait"])("%p for (?i)ship and (?i)kit", (text) => {
    expect(admitted(["(?i)ship", "(?i)KIT", "nothing"], text)).toEqual(["(?i)KIT", "(?i)ship"]);
  });

  test("few literals per position, also when many are made of the same letters", () => {
    const gate = new LiteralPrefilter<{ source: string }>();
    const sources = Array.from({ length: 4_096 }, (_, at) =>
      at.toString(2).padStart(16, "0").replaceAll("0", "a").replaceAll("1", "b"),
    );
    const isKept = sources.map((source) => gate.add({ source }));
    // Each of the sixteen n-grams of two letters has at most 64.
    expect(isKept.filter((kept) => kept).length).toBeWithin(64, 16 * 64 + 1);
    expect(gate.add({ source: "another literal" })).toBe(true);
    expect(gate.add({ source: sources[0] ?? "" })).toBe(true);
  });

  test("only those with all their literals, among many that share the longest", () => {
    const sources = Array.from({ length: 300 }, (_, at) => `(?i)\\bmessage \\d*${at} of`);
    expect(admitted(sources, "Message 17 of a day")).toEqual([17, 7].map((at) => sources[at] ?? ""));
    expect(admitted(["message.*urgent", "message.*later"], "a message for later")).toEqual([
      "message.*later",
    ]);
  });

  test("only literals that the text contains, among many with the same start or end", () => {
    const sources = Array.from({ length: 100 }, (_, at) => `https://x/${at}/z`);
    expect(admitted(sources, "https://x/7/z")).toEqual(["https://x/7/z"]);
    expect(admitted(sources, "see https://x/42/z, https://x/4")).toEqual(["https://x/42/z"]);
  });
});

const UNLIMITED = { minuteMs: Number.POSITIVE_INFINITY, eventMs: Number.POSITIVE_INFINITY };

/** A pool whose expressions belong to owners of the same name, on a clock that each reading advances. */
function makePool() {
  const clock = { nowMs: 0, readingMs: 0, readings: 0 };
  const read = () => {
    clock.readings += 1;
    clock.nowMs += clock.readingMs;
    return clock.nowMs;
  };
  const budgets = new OwnerBudgets(UNLIMITED, () => clock.nowMs);
  const pool = new ExpressionPool(budgets, read);
  const subscriberOf = (id: string) =>
    expectOk(budgets.subscribe({ id, ownerId: id, programSize: 0, onOver: () => undefined }));
  const add = (source: string, subscriber = subscriberOf(source)) => {
    const program = expectOk(readRegexProgram(source));
    return { subscriber, expression: pool.add(program, subscriber) };
  };
  return { clock, pool, add, subscriberOf };
}

test("splits a slow shard, joins quick expressions again, and matches the same", () => {
  const { clock, pool, add } = makePool();
  // Without a required literal, so they share shards.
  for (let length = 0; length < 60; length += 1) add(`\\b[a-z]{${length}}\\b`);
  const readingsOf = (chars: number) => {
    clock.readings = 0;
    pool.setEvent(["abc", `${"a".repeat(40)} ${"-".repeat(chars)} abcd`]);
    const lengths = pool.matching().map(({ source }) => Number(/\d+/.exec(source)));
    expect([...new Set(lengths)].sort((a, b) => a - b)).toEqual([0, 3, 4, 40]);
    return clock.readings;
  };
  const together = readingsOf(100);
  expect(together).toBeLessThan(30);
  expect(readingsOf(100)).toBe(together);
  clock.readingMs = 100;
  readingsOf(100);
  clock.readingMs = 0;
  // One reading per expression.
  expect(readingsOf(100)).toBe(61);
  for (let event = 0; event < 60; event += 1) readingsOf(1_000);
  expect(readingsOf(100)).toBe(together);
});

test("charges the cost of a shard to the owners of its members, by program size", () => {
  const { clock, pool, add } = makePool();
  const small = add("[ab]{2}").subscriber;
  const large = add("[ab]{40}").subscriber;
  clock.readingMs = 1;
  for (let event = 0; event < 60; event += 1) {
    pool.setEvent(["c".repeat(1_000)]);
    pool.matching();
  }
  const costs = [small, large].map(({ account, window }) => window.in(account.window));
  expect(costs[0]).toBeGreaterThan(1);
  expect(costs[1]).toBeGreaterThan(5 * (costs[0] ?? 0));
  // The cost of the last few runs is charged later.
  expect((costs[0] ?? 0) + (costs[1] ?? 0)).toBeWithin(50, 61);
});

test("does not charge time above the maximum of program and text", () => {
  const { clock, pool, add } = makePool();
  const { subscriber, expression } = add("gm friends");
  clock.readingMs = 60_000;
  pool.setEvent(["gm friends"]);
  expect(pool.matching()).toEqual([expression]);
  expect(subscriber.window.in(subscriber.account.window)).toBeLessThan(0.04);
});

test("charges only the caller of isMatching, and all subscribers of a search in equal parts", () => {
  const { clock, pool, add, subscriberOf } = makePool();
  const [one, other] = [subscriberOf("one"), subscriberOf("other")];
  const { expression } = add("gm", one);
  add("gm", other);
  clock.readingMs = 1e-3;
  const cost = ({ account, window }: Subscriber) => window.in(account.window);
  pool.setEvent(["gm"]);
  expect(pool.isMatching(expression, one)).toBe(true);
  expect([cost(one), cost(other)].map((ms) => Math.round(ms * 1e4))).toEqual([10, 0]);
  pool.setEvent(["gm"]);
  pool.matching();
  expect([cost(one), cost(other)].map((ms) => Math.round(ms * 1e4))).toEqual([15, 5]);
});

test("refuses an expression that fails at matching, without effect on others", () => {
  const { pool, add } = makePool();
  const { subscriber: failing } = add("gm friends");
  const { subscriber: other, expression } = add("gm");
  const { test: run } = RE2JS.prototype;
  const spy = spyOn(RE2JS.prototype, "test").mockImplementation(function (this: RE2JS, text) {
    if (this.pattern() === `(${failing.id})`) throw new RangeError("Maximum call stack size exceeded.");
    return run.call(this, text);
  });
  pool.setEvent(["gm friends"]);
  expect(pool.matching()).toEqual([expression]);
  spy.mockRestore();
  expect([failing.isOverBudget, other.isOverBudget]).toEqual([true, false]);
  pool.setEvent(["gm friends"]);
  expect(pool.matching()).toEqual([expression]);
});

test("retains an expression while it has a subscriber", () => {
  const { pool, add, subscriberOf } = makePool();
  const matching = () => {
    pool.setEvent(["gm 7"]);
    return pool.matching().map(({ source }) => source);
  };
  const [one, other] = [subscriberOf("one"), subscriberOf("other")];
  const used = [add("gm", one), add("\\d", one), add("gm", other)];
  expect(matching()).toEqual(["gm", "\\d"]);
  for (const { expression, subscriber } of used.slice(0, 2)) pool.remove(expression, subscriber);
  expect(matching()).toEqual(["gm"]);
  for (const { expression, subscriber } of used.slice(2)) pool.remove(expression, subscriber);
  expect(matching()).toEqual([]);
});
