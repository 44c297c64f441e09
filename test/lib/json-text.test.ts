import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  extendMemoized,
  jsonPieces,
  jsonText,
  jsonTextWithin,
  memoizeJson,
} from "../../src/lib/json-text.ts";

const keepAll = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  for (const member of Object.values(value)) keepAll(member);
  return memoizeJson(value);
};

test("serializes any plain data as JSON.stringify does, memoized or not", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.boolean(), (value, isKept) => {
      const input = isKept ? keepAll(value) : value;
      expect(jsonText(input)).toBe(JSON.stringify(value));
      expect(jsonText({ again: [input, input] })).toBe(JSON.stringify({ again: [value, value] }));
    }),
  );
});

test("serializes an extended object as its base and the fields after it", () => {
  const record = fc.dictionary(
    fc.string().map((key) => `a${key}`),
    fc.jsonValue(),
  );
  const others = fc.dictionary(
    fc.string().map((key) => `b${key}`),
    fc.option(fc.jsonValue(), { nil: undefined }),
  );
  fc.assert(
    fc.property(record, others, fc.boolean(), (base, more, isMemoized) => {
      const extended: object = extendMemoized<object, object>(isMemoized ? memoizeJson(base) : base, more);
      const twice = extendMemoized(extended, { c: [extended] });
      expect(extended).toEqual({ ...base, ...more });
      for (const value of [extended, twice]) {
        expect(jsonText([value])).toBe(JSON.stringify([value]));
        expect([...jsonPieces(value)].join("")).toBe(JSON.stringify(value));
      }
      expect(jsonText(base)).toBe(JSON.stringify(base));
    }),
  );
});

test("omits a key without a value, and writes a hole in a list as null", () => {
  const value = { absent: undefined, list: [undefined, 1, Number.NaN], "né\n": "\ud800" };
  expect(jsonText(value)).toBe(JSON.stringify(value));
});

test("the pieces of any plain data join to its text, and large data is split into small pieces", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(3), (value, times) => {
      const large = Array.from({ length: 10 ** times }, () => ({ a: value, b: [value], c: undefined }));
      const pieces = [...jsonPieces(large)];
      expect(pieces.join("")).toBe(JSON.stringify(large));
    }),
    { numRuns: 30 },
  );
  const rows = Array.from({ length: 20_000 }, (_, n) => ({ n, text: "x".repeat(100) }));
  const pieces = [...jsonPieces({ rows: { nested: [rows] } })];
  expect(pieces.length).toBeGreaterThan(50);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(70_000);
});

test("returns a text within the limit, and undefined one unit beyond it", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(jsonTextWithin(value, text.length)).toBe(text);
      expect(jsonTextWithin(value, text.length - 1)).toBeUndefined();
    }),
  );
});
