import { expect, test } from "bun:test";
import { readRegexProgram } from "../../../src/webhooks/match/expressions/regex-program.ts";
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
  "\\Qa(",
  "^(?:gm|gn)$",
  "(?i)[\\x{80}-\\x{10ffff}]",
  "(?i)[^\\x00-\\x{7f}]+",
  "(?i)[\u4e00-\u9fff\\p{L}\\p{N}]{1,5}",
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
  "?:a",
  "a)(b",
  "[a",
  "a{1001}",
  "\\",
])("rejects %p, which is not an RE2 expression", (regex) => {
  expect(messageOf(regex)).toBe("text is not a valid RE2 regular expression");
});

test.each([
  "a{1000}".repeat(100),
  `(${"a".repeat(900)}){1000}`,
  `(${"[^)(]".repeat(50)}){1000}`,
  `((${"a{9}".repeat(200)}){10}){10}`,
  "(.{0,999}){1,4}".repeat(60),
  "(?:x?){800}".repeat(20),
  `(?:${"{01}".repeat(240)}){1000}`,
  `(${"a".repeat(900)})(?i){1000}`,
])("rejects %p without compiling it", (regex) => {
  expect(messageOf(regex)).toStartWith("text repeats too much: it compiles to too many instructions");
});

test.each(["gm\\p{L}{900}", "(?i)[\u4e00-\u9fff]".repeat(10), `(?i)[${"A-\u{1e921}".repeat(2)}]`])(
  "rejects %p for its character classes without compiling it",
  (regex) => {
    expect(messageOf(regex)).toStartWith("text has character classes that are too large");
  },
);

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
  "%p is not a text for one",
  (regex) => {
    expectErr(read(regex));
  },
);
