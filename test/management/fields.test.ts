import { describe, expect, test } from "bun:test";
import { ok, type Result } from "../../src/lib/result.ts";
import { ownValue, readList, readObject, readText } from "../../src/management/fields.ts";
import { badField, type Refusal } from "../../src/management/refusal.ts";
import { expectErr } from "../support/result.ts";

const valueOrMessage = <T>(result: Result<T, Refusal>) => (result.ok ? result.value : result.error.message);

describe("readText counts code points", () => {
  const read = (value: unknown) => valueOrMessage(readText({ min: 1, max: 3 })(value, "name"));
  test.each(["a", "abc", "ä🎈ö", "🎈🎈🎈", "e\u0301x"])("accepts %p", (text) => {
    expect(read(text)).toBe(text);
  });
  test.each([
    ["an empty text", ""],
    ["four letters", "abcd"],
    ["four emoji", "🎈🎈🎈🎈"],
    ["a million letters", "x".repeat(1_000_000)],
  ])("rejects %s", (_name, text) => {
    expect(read(text)).toBe("name must have 1 to 3 characters");
  });
  test.each([1, null, true, [["a"]], {}])("rejects %p, which is not text", (value) => {
    expect(read(value)).toBe("name must be a string");
  });
  test.each(["\ud800", "a\udc00", "a\0"])("rejects %p, which cannot be stored", (text) => {
    expect(read(text)).toBe("name must be well-formed Unicode without NUL");
  });
});

test("readList rejects the first bad entry, and a long list before reading entries", () => {
  const readEntry = (entry: unknown, name: string) =>
    typeof entry === "number" ? ok(entry) : badField(`${name} must be a number`);
  const read = (value: unknown) => valueOrMessage(readList(2, readEntry)(value, "fids"));
  expect(read([1, 2])).toEqual([1, 2]);
  expect(read([])).toEqual([]);
  expect(read([1, "x"])).toBe("every entry of fids must be a number");
  expect(read(["x", "y", "z"])).toBe("fids must have at most 2 entries");
  expect(read({ length: 1, 0: 1 })).toBe("fids must be an array");
});

test("readObject rejects everything else, and ownValue ignores inherited keys", () => {
  expect(ownValue({}, "constructor")).toBeUndefined();
  expect(ownValue(JSON.parse('{"__proto__":1}'), "__proto__")).toBe(1);
  for (const value of [null, [], "{}", 1, undefined]) expectErr(readObject(value, "x"));
});
