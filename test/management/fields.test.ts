import { describe, expect, test } from "bun:test";
import { ok, type Result } from "../../src/lib/result.ts";
import {
  ownValue,
  readFid,
  readFields,
  readList,
  readNullable,
  readObject,
  readText,
} from "../../src/management/fields.ts";
import { badField, type Refusal } from "../../src/management/refusal.ts";
import { expectErr, expectOk } from "../support/result.ts";

const valueOrMessage = <T>(result: Result<T, Refusal>) => (result.ok ? result.value : result.error.message);

describe("readText counts code points", () => {
  const read = (value: unknown) => valueOrMessage(readText({ min: 1, max: 3 })(value, "name"));
  test.each(["a", "abc", "ä🎈ö", "🎈🎈🎈", "e\u0301x"])("accepts %p", (text) => {
    expect(read(text)).toBe(text);
  });
  test.each(["", "abcd", "🎈🎈🎈🎈", "x".repeat(1_000_000)])("rejects the length of %p", (text) => {
    expect(read(text)).toBe("name must have 1 to 3 characters");
  });
  test.each([1, null, true, [["a"]], {}])("rejects %p, which is not text", (value) => {
    expect(read(value)).toBe("name must be a string");
  });
  test.each(["\ud800", "a\udc00", "a\0"])("rejects %p, which cannot be stored", (text) => {
    expect(read(text)).toBe("name must be well-formed Unicode without NUL");
  });
});

test("readFid accepts only exact integers", () => {
  for (const fid of [0, 3, Number.MAX_SAFE_INTEGER]) expect(expectOk(readFid(fid, "fid"))).toBe(fid);
  for (const other of [-1, 0.5, 2 ** 53, 2 ** 64, Number.NaN, "3", null, undefined]) {
    expect(valueOrMessage(readFid(other, "fid"))).toBe("fid must be an integer from 0 to 9007199254740991");
  }
});

test("readList rejects the first bad entry, and a long list before reading entries", () => {
  const read = (value: unknown) => valueOrMessage(readList(2, readFid)(value, "fids"));
  expect(read([1, 2])).toEqual([1, 2]);
  expect(read([])).toEqual([]);
  expect(read([1, "x"])).toStartWith("every entry of fids must be");
  expect(read(["x", "y", "z"])).toBe("fids must have at most 2 entries");
  expect(read({ length: 1, 0: 1 })).toBe("fids must be an array");
});

test("readFields reads in the order of the table, omits absent fields and ignores unknown ones", async () => {
  const seen: string[] = [];
  const field = (key: string) => ({
    key,
    read: async (value: unknown, name: string) => {
      seen.push(name);
      return value === "bad" ? badField(name) : ok(String(value));
    },
  });
  const table = { first: field("a"), second: field("b"), third: field("c") };
  expect(expectOk(await readFields(table, { c: 1, a: 2, toString: 3 }))).toEqual({ first: "2", third: "1" });
  expect(seen).toEqual(["a", "c"]);
  expect(valueOrMessage(await readFields(table, { c: 1, b: "bad" }))).toBe("b");
  expect(seen).toEqual(["a", "c", "b"]);
});

test("readNullable accepts null, and ownValue ignores inherited keys", async () => {
  const read = readNullable<number>(readFid);
  expect(expectOk(await read(null, "fid"))).toBeNull();
  expect(expectOk(await read(3, "fid"))).toBe(3);
  expect(ownValue({}, "constructor")).toBeUndefined();
  expect(ownValue(JSON.parse('{"__proto__":1}'), "__proto__")).toBe(1);
  for (const value of [null, [], "{}", 1, undefined]) expectErr(readObject(value, "x"));
});
