import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { RE2JS } from "re2js";
import { readRegexProgram } from "../../../src/webhooks/match/regex-program.ts";
import { fastestMs } from "../../support/fastest.ts";
import { expectErr, expectOk } from "../../support/result.ts";

const read = readRegexProgram;
const messageOf = (regex: unknown) => {
  const outcome = read(regex);
  return outcome.ok ? outcome.value.source : `text ${outcome.error.reason}`;
};

test.each([
  "",
  "gm",
  "(?i)hello",
  "^\\$DEGEN\\b",
  "\\p{L}+|\\pN{2,5}",
  "(?P<word>\\w+)",
  "[]a-z[:digit:]-]{3}",
  "(a+)+$",
  "\\Q(.*\\E{3}",
  "[\\p{Greek}\\x{1F600}]{140}",
  "a{,5}",
  "x".repeat(1000),
  "(".repeat(70) + ")".repeat(70),
])("accepts %p", (regex) => {
  expect(expectOk(read(regex)).source).toBe(regex);
});

test.each([
  "(?=a)",
  "(?<!a)b",
  "(a)\\1",
  "a++",
  "(?>a)",
  "[z-a]",
  "(",
  "a)",
  "*",
  "a{2}{3}",
  "a{1001}",
  "\\",
])("rejects %p, which is not an RE2 expression", (regex) => {
  expect(messageOf(regex)).toBe("text is not a valid RE2 regular expression");
});

test.each([
  "a{1000}".repeat(100),
  "\\p{L}{1000}".repeat(80),
  `(${"a".repeat(900)}){1000}`,
  `(${"[^)(]".repeat(50)}){1000}`,
  `((${"a{9}".repeat(200)}){10}){10}`,
  "(.{0,999}){1,4}".repeat(60),
  "(?:x?){800}".repeat(20),
])("rejects %p without compiling it", (regex) => {
  expect(messageOf(regex)).toStartWith("text repeats too much");
  expect(fastestMs(() => messageOf(regex), 50)).toBeLessThan(50);
});

test.each([
  ["[a-z].{140}[0-9]", true],
  ["[a-z].{160}[0-9]", false],
  ["(?s).*a.{980}", false],
  ["gm.{980}", true],
  ["gm.{999}.{999}", false],
])("%p is within the size limit: %p", (regex, isTaken) => {
  const bound = regex.includes("gm")
    ? "1200 are allowed"
    : "150 are allowed where the expression requires no literal";
  if (isTaken) expect(expectOk(read(regex)).source).toBe(regex);
  else expect(messageOf(regex)).toContain(bound);
});

test.each([undefined, null, 1, [["a"]], "\ud800", "a\0b", "a".repeat(1001)])(
  "%p is no text for one",
  (regex) => {
    expectErr(read(regex));
  },
);

describe("readRegexProgram of any text made of pieces of expressions", () => {
  const piece = fc.constantFrom(
    ..."ab().*+?|[]^$-,\\{}0123456789:",
    "{1000}",
    "{2,}",
    "(?:",
    "(?i)",
    "\\Q",
    "\\E",
    "[^]",
    "[[:alpha:]",
    "\\p{L}",
    "\\p{",
    "\\x{",
    "(a{30}){30}",
  );
  const text = fc.array(piece, { maxLength: 120 }).map((pieces) => pieces.join(""));

  test("never throws, takes long or accepts a large program", () => {
    fc.assert(
      fc.property(text, (regex) => {
        const outcome = read(regex);
        expect(fastestMs(() => read(regex), 500)).toBeLessThan(500);
        if (outcome.ok) expect(RE2JS.compile(regex).programSize()).toBeLessThanOrEqual(1200);
      }),
      { numRuns: 2000 },
    );
  });

  test("takes time linear in the length of the text", () => {
    for (const unit of ["[\\p{a}", "[[:a:]", "[\\\\", "\\Q", "\\p{", "[^]", "(", "{1"]) {
      const text = unit.repeat(Math.floor(1000 / unit.length));
      expect(fastestMs(() => read(text), 100)).toBeLessThan(100);
    }
  });
});
