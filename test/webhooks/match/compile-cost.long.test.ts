import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { RE2JS } from "re2js";
import { readRegexProgram } from "../../../src/webhooks/match/expressions/regex-program.ts";
import { IS_LONG } from "../../support/long.ts";

interface Steps {
  readonly read: number;
  readonly matched: number;
}

/** Counts the turns of loops and the calls within the library, in a thread that loads a counted copy of it. */
async function stepsOf(sources: readonly string[]): Promise<readonly Steps[]> {
  const thread = new Worker(new URL("./counted-compile.ts", import.meta.url).href);
  const message = () =>
    new Promise<MessageEvent>((resolve, reject) => {
      thread.onmessage = resolve;
      thread.onerror = ({ message }) => reject(new Error(message));
    });
  try {
    await message();
    thread.postMessage(sources);
    return (await message()).data;
  } finally {
    thread.terminate();
  }
}

/** Of reading an expression anywhere, about 10 ns each. */
const MAX_READ_STEPS = 1_500_000;
/** Of its first match, which makes its automaton. */
const MAX_MATCH_STEPS = 3_000_000;

const repeated = (unit: string, within = 1_000) => unit.repeat(Math.floor(within / unit.length));
const letters = (count: number, after: string) =>
  Array.from({ length: count }, (_, at) => String.fromCodePoint(0x4e00 + 2 * at) + after).join("");

const HOSTILE = [
  `(?i)[${"A-\u{1e921}".repeat(240)}]`,
  `gm(?i)[${"A-\u{1e921}".repeat(100)}]`,
  `(?i:${"[B-\u{1e921}]".repeat(100)})`,
  `(?i)${"[\\x{4e00}-\\x{9fff}]".repeat(40)}`,
  "(?i)[\\x{80}-\\x{10ffff}]",
  `[${"\\pL".repeat(330)}]`,
  `(?i)[${"\\pL".repeat(330)}]`,
  `(?i)[${"\\P{Lu}".repeat(150)}]`,
  "\\pL".repeat(330),
  "gm\\pL{900}",
  "gm(?:\\pL{30}\\pN){30}",
  "gm(?i)\\p{Ll}{200}",
  `${"(?:".repeat(120)}\\pL${"|\\pN)".repeat(120)}`,
  `${"(?:".repeat(70)}\\p{Lu}${"|\\p{Ll})".repeat(70)}`,
  Array.from({ length: 200 }, (_, at) => `\\pL${"abcdefghij"[at % 10]}`).join("|"),
  // The library's automaton for expressions that begin at the start of the text.
  `^${letters(490, "*")}$`,
  `^(?:${letters(240, "x|").slice(0, -1)})*$`,
  `^gm${letters(300, "*")}$`,
  // Counted repetitions that the library reads otherwise than they look.
  `(?:${"{01}".repeat(240)}){1000}`,
  `(${"a".repeat(900)})(?i){1000}`,
  `(${"a".repeat(900)})\\Q\\E{1000}`,
  `gm(?:${"x*".repeat(300)}){6}`,
  `gm${"(?:x{0,9}){0,9}".repeat(40)}`,
  repeated("(("),
  repeated("["),
  repeated("\\p{"),
  repeated("(?P<a"),
  repeated("a|bc|"),
  repeated("(?:a?"),
];

/** Texts made of pieces of expressions. */
const piece = fc.constantFrom(
  ..."ab().*+?|[]^$-,\\{}0123456789:",
  "{1000}",
  "{2,}",
  "{01}",
  "(?:",
  "(?i)",
  "(?i:",
  "\\Q",
  "\\E",
  "[^]",
  "[[:alpha:]",
  "[A-\u{1e921}]",
  "[B-\\x{1ffff}",
  "[\u4e00-\u9fff]",
  "\\pL",
  "\\p{Lu}",
  "[\\PL\\pN]",
  "\\p{",
  "\\x{",
  "|\\p{Ll}|",
  "(a{30}){30}",
  "gm",
);
const cut = (text: string) => text.slice(0, 1_000).toWellFormed();
const text = fc
  .tuple(
    fc.constantFrom("", "^", "(?i)", "gm", "^gm(?i)"),
    fc.array(piece, { maxLength: 60 }),
    fc.integer({ min: 1, max: 20 }),
  )
  .map(([start, pieces, times]) => cut(start + pieces.join("").repeat(times)));

/** Expressions that are well formed. */
const { expression } = fc.letrec<{ expression: string; element: string }>((tie) => ({
  expression: fc
    .array(fc.array(tie("element"), { maxLength: 6 }), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.map((part) => part.join("")).join("|")),
  element: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(
      "a",
      "gm",
      ".",
      "^",
      "$",
      "\\b",
      "\\pL",
      "\\p{Lu}",
      "\\PN",
      "\\d",
      "\\Q[(\\E",
      "(?i)",
      "(?-i)",
      "(?s)",
    ),
    fc
      .array(
        fc.constantFrom(
          "a-z",
          "A-\u{1e921}",
          "\\x{80}-\\x{fff}",
          "\u4e00-\u9fff",
          "\\pL",
          "\\P{Ll}",
          "[:alpha:]",
          "]",
          "\\d",
          "-",
        ),
        {
          minLength: 1,
          maxLength: 8,
        },
      )
      .map((parts) => `[^\\n${parts.join("")}]`),
    fc
      .tuple(
        fc.constantFrom("(", "(?:", "(?i:", "(?P<n>"),
        tie("expression"),
        fc.constantFrom("", "*", "+?", "?", "{3}", "{0,9}", "{30,}"),
      )
      .map(([open, inner, repeat]) => `${open}${inner})${repeat}`),
  ),
}));
const repetitions = fc
  .tuple(expression, fc.integer({ min: 1, max: 100 }))
  .map(([inner, times]) =>
    inner.slice(0, 1_000).repeat(Math.max(1, Math.min(times, Math.floor(1_000 / inner.length)))),
  );
const any = fc.oneof(text, repetitions.map(cut));

describe("readRegexProgram", () => {
  test.each([
    ["that were found", HOSTILE],
    ["that are drawn at random", fc.sample(any, IS_LONG ? 20_000 : 500)],
  ])("reads and matches hostile expressions %s in a bounded number of steps", async (_, sources) => {
    const steps = await stepsOf(sources);
    const costly = sources.flatMap((source, at) => {
      const { read = 0, matched = 0 } = steps[at] ?? {};
      return read <= MAX_READ_STEPS && matched <= MAX_MATCH_STEPS ? [] : [{ source, read, matched }];
    });
    expect(steps).toHaveLength(sources.length);
    expect(costly).toEqual([]);
  });

  test("takes each text that it does not find too large for an expression if the library does", () => {
    fc.assert(
      fc.property(any, (source) => {
        const read = readRegexProgram(source);
        if (!read.ok && !read.error.reason.includes("valid")) return;
        if (read.ok) expect(RE2JS.compile(source).programSize()).toBeLessThanOrEqual(read.value.size);
        else expect(() => RE2JS.compile(source)).toThrow();
      }),
      { numRuns: IS_LONG ? 20_000 : 1_000 },
    );
  });
});
