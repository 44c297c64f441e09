import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { castRuns, type Run, textRuns } from "../../../../src/console/web/text/runs.ts";

const kinds = (runs: readonly Run[]) => runs.map(({ kind, text }) => `${kind}:${text}`);

const words = fc.constantFrom(
  "gm",
  " ",
  "\n",
  "https://demo.example/read/cats/50",
  "HTTP://Demo.Example",
  "https://",
  "javascript:alert(1)",
  "data:text/html,<script>",
  "//host.example",
  "<img src=x onerror=alert(1)>",
  "/coffee",
  "/Coffee",
  "a/b",
  "(",
  ").",
  "@tove",
  "\u202e",
  "\ud800",
  "👩‍👩‍👧",
);
const texts = fc.array(words, { maxLength: 30 }).map((all) => all.join(""));
const ranges = fc.array(
  fc.record({
    start: fc.integer({ min: -5, max: 120 }),
    end: fc.integer({ min: -5, max: 120 }),
    fid: fc.nat(),
  }),
  { maxLength: 10 },
);

describe("textRuns", () => {
  test("makes up the whole text for any ranges, and links nothing but http and https", () => {
    fc.assert(
      fc.property(texts, ranges, (text, mentions) => {
        const runs = textRuns(text, mentions);
        expect(runs.map((run) => run.text).join("")).toBe(text);
        for (const run of runs) {
          expect(run.text).not.toBe("");
          if (run.kind === "link")
            expect(new URL(run.link.href)).toMatchObject({ username: "", password: "" });
          if (run.kind === "link") expect(run.link.href).toMatch(/^https?:/);
          if (run.kind === "channel") expect(run.id).toMatch(/^[a-z0-9][a-z0-9-]*$/);
        }
      }),
    );
  });

  test("finds links without the punctuation of the sentence", () => {
    expect(kinds(textRuns("see (https://a.example/x_(y)), or https://b.example."))).toEqual([
      "text:see (",
      "link:https://a.example/x_(y)",
      "text:), or ",
      "link:https://b.example",
      "text:.",
    ]);
  });

  test("ends a link before quotes, angle brackets and invisible characters", () => {
    expect(kinds(textRuns('<a href="https://a.example/x">\u202ehttps://b.example\u202c/evil'))).toEqual([
      'text:<a href="',
      "link:https://a.example/x",
      'text:">\u202e',
      "link:https://b.example",
      "text:\u202c/evil",
    ]);
  });

  test("leaves other schemes and relative addresses as text", () => {
    const text =
      "javascript:alert(1) data:text/html,x //host.example ftp://a.example mailto:a@b.example https:// http:x";
    expect(kinds(textRuns(text))).toEqual([`text:${text}`]);
  });

  test("finds names of channels after white space, and no paths", () => {
    expect(kinds(textRuns("/coffee and /Books, not a/b, /a/b, 1/2 or /éa"))).toEqual([
      "channel:/coffee",
      "text: and ",
      "channel:/Books",
      "text:, not a/b, /a/b, 1/2 or /éa",
    ]);
  });

  test("does not slow down on a long token", () => {
    // A quadratic scan of this would outlast the test's time limit.
    textRuns(`https://a.example/${")".repeat(2_000_000)}`);
    textRuns(`https://a.example/${")".repeat(2_000)}`.repeat(500));
  });
});

describe("castRuns", () => {
  test("has a mention for each range that the API gives", () => {
    const cast = {
      text: "gm @tove and @mirawren",
      mentioned_profiles: [{ fid: 4 }, { fid: 3 }],
      mentioned_profiles_ranges: [
        { start: 3, end: 8 },
        { start: 13, end: 22 },
      ],
    };
    expect(castRuns(cast)).toEqual([
      { kind: "text", text: "gm " },
      { kind: "mention", text: "@tove", fid: 4 },
      { kind: "text", text: " and " },
      { kind: "mention", text: "@mirawren", fid: 3 },
    ]);
  });
});
