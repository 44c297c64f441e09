import { expect, test } from "bun:test";
import fc from "fast-check";
import { hasUnprintable, printable, printableLines } from "../../src/lib/text.ts";

/** One of each kind: a control character of either range, bidirectional, zero-width, separators, a tag beyond U+FFFF. */
const HOSTILE = [
  "\u001b",
  "\u009b",
  "\u007f",
  "\u202e",
  "\u2066",
  "\u200b",
  "\u00ad",
  "\ufeff",
  "\u2028",
  "\u{e0041}",
];
const text = () =>
  fc
    .array(fc.oneof(fc.constantFrom(...HOSTILE, "\n", "\t"), fc.string({ unit: "binary" })))
    .map((parts) => parts.join(""));

test("escapes every character that a terminal interprets or hides, and JSON remains equivalent", () => {
  for (const character of HOSTILE) expect(hasUnprintable(`a${character}b`)).toBe(true);
  fc.assert(
    fc.property(text(), (input) => {
      expect(hasUnprintable(printable(input))).toBe(false);
      expect(hasUnprintable(printableLines(input).replaceAll(/[\n\t]/g, ""))).toBe(false);
      expect(hasUnprintable(input)).toBe(printable(input) !== input);
      const json = JSON.stringify({ given: input }, null, 2);
      expect(JSON.parse(printableLines(json))).toEqual({ given: input });
    }),
  );
});

test("leaves ordinary text of any script unchanged, and escaped text readable", () => {
  for (const plain of ["", "Grüße 🎈", "日本語", "שלום", "e\u0301"]) expect(printable(plain)).toBe(plain);
  expect(printable("a\tb\nc")).toBe("a\\u0009b\\u000ac");
  expect(printableLines("a\tb\nc\r")).toBe("a\tb\nc\\u000d");
  expect(printable("gpj\u202e.exe")).toBe("gpj\\u202e.exe");
  expect(printable("\u{e0041}")).toBe("\\udb40\\udc41");
});
