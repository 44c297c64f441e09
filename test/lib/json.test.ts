import { expect, test } from "bun:test";
import { parseJson, parseJsonBytes, parseStrictJsonBytes } from "../../src/lib/json.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("returns the value of JSON, null included", () => {
  expect(parseJson('{"a":[1]}')).toEqual({ a: [1] });
  expect(parseJsonBytes(bytes('"é"'))).toBe("é");
  expect(parseStrictJsonBytes(bytes("null"))).toBeNull();
});

test("returns undefined for other text and for bytes that are not UTF-8", () => {
  for (const text of ["", "undefined", "{", "1 2"]) {
    expect(parseJson(text)).toBeUndefined();
    expect(parseJsonBytes(bytes(text))).toBeUndefined();
  }
  expect(parseJsonBytes(Uint8Array.of(0x22, 0xff, 0x22))).toBeUndefined();
});

test("only the strict function rejects a byte order mark", () => {
  expect(parseJsonBytes(bytes("\ufeff1"))).toBe(1);
  expect(parseStrictJsonBytes(bytes("\ufeff1"))).toBeUndefined();
});
