import { expect, test } from "bun:test";
import fc from "fast-check";
import { jsonText, keepText } from "../../src/lib/json-text.ts";

const keepAll = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  for (const member of Object.values(value)) keepAll(member);
  return keepText(value);
};

test("any plain data gets the text that JSON.stringify makes of it, kept or not", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.boolean(), (value, isKept) => {
      const given = isKept ? keepAll(value) : value;
      expect(jsonText(given)).toBe(JSON.stringify(value));
      expect(jsonText({ again: [given, given] })).toBe(JSON.stringify({ again: [value, value] }));
    }),
  );
});

test("a key without a value is left out, and a hole in a list is null", () => {
  const value = { absent: undefined, list: [undefined, 1, Number.NaN], "né\n": "\ud800" };
  expect(jsonText(value)).toBe(JSON.stringify(value));
});
