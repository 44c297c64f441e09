import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  displayNameOf,
  handleOf,
  initialOf,
  nameParts,
  plainName,
} from "../../../../src/console/web/text/name.ts";

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
const countOf = (text: string) => [...graphemes.segment(text)].length;
const textOf = (name: string) =>
  nameParts(name)
    .map((part) => ("text" in part ? part.text : ""))
    .join("");

const invisible = fc.constantFrom(
  "\u202e",
  "\u2066",
  "\u200b",
  "\u200d",
  "\u200f",
  "\ufeff",
  "\u00ad",
  "\u3164",
  "\u0000",
  "\n",
);
const names = fc
  .array(fc.oneof(fc.string({ unit: "grapheme", maxLength: 8 }), invisible), { maxLength: 40 })
  .map((all) => all.join(""));

describe("nameParts", () => {
  test("leaves ordinary names of any script whole", () => {
    for (const name of [
      "Mira Wren",
      "Мира",
      "山田 太郎",
      "مريم",
      "Kaia ✨",
      "❤️ 👩‍👩‍👧",
      "🏴󠁧󠁢󠁳󠁣󠁴󠁿 Isla",
      "1️⃣ José",
    ]) {
      expect(nameParts(name)).toEqual([{ text: name }]);
    }
  });

  test("draws bidirectional controls and zero-width characters as marks with their number and name", () => {
    expect(nameParts("ab\u202edc")).toEqual([
      { text: "ab" },
      { mark: "U+202E right-to-left override" },
      { text: "dc" },
    ]);
    expect(nameParts("to\u200bve")[1]).toEqual({ mark: "U+200B zero-width space" });
    expect(nameParts("a\u200db")[1]).toEqual({ mark: "U+200D zero-width joiner" });
    expect(nameParts("a\ufe0f")[1]).toEqual({ mark: "U+FE0F" });
  });

  test("shows at most 64 graphemes, and no part has an invisible character", () => {
    fc.assert(
      fc.property(names, (name) => {
        for (const part of nameParts(name)) {
          if ("mark" in part) expect(part.mark).toMatch(/^U\+[0-9A-F]{4,6}/);
          else
            expect(part.text).not.toMatch(
              /[\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\ufeff\u00ad\u3164\n]/,
            );
        }
        expect(countOf(textOf(name))).toBeLessThanOrEqual(65);
      }),
    );
  });

  test("cuts a long name at 64 graphemes with an ellipsis", () => {
    expect(textOf("é".repeat(65))).toBe(`${"é".repeat(64)}…`);
    expect(textOf("x".repeat(64))).toBe("x".repeat(64));
  });

  test("takes a million combining marks without reading them all", () => {
    expect(textOf(`a${"\u0301".repeat(1_000_000)}`).length).toBeLessThan(600);
  });
});

test("a plain name has a sign for each invisible character", () => {
  expect(plainName("a\u202eb")).toBe("a\ufffdb");
});

describe("displayNameOf", () => {
  test("is the handle where a displayed name is missing or blank", () => {
    expect(displayNameOf({ fid: 5, username: "tove", display_name: "  " })).toBe("@tove");
    expect(displayNameOf({ fid: 5, username: "!5" })).toBe("!5");
    expect(handleOf({ fid: 5, username: "!5" })).toBe("!5");
    expect(displayNameOf({ fid: 5, username: "tove", display_name: "Tove" })).toBe("Tove");
  });
});

describe("initialOf", () => {
  test("is the first visible grapheme in upper case", () => {
    expect(initialOf("mira")).toBe("M");
    expect(initialOf("\u202e é")).toBe("É");
    expect(initialOf("👩‍👩‍👧 home")).toBe("👩‍👩‍👧");
    expect(initialOf("\u200b")).toBe("·");
    expect(initialOf("")).toBe("·");
  });
});
