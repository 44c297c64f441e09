import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ApiError } from "../../src/http/errors.ts";
import { listValues, parseQueryString } from "../../src/http/request/query-string.ts";

const parse = (query: string) => ({ ...parseQueryString(`http://localhost/path?${query}`) });

describe("parseQueryString", () => {
  test.each([
    ["", {}],
    ["fid=3", { fid: ["3"] }],
    ["fids=1,2&fids=3%2C4", { fids: ["1,2", "3,4"] }],
    ["q=a+b%20c%2Bd", { q: ["a b c+d"] }],
    ["&&a=1&&b", { a: ["1"], b: [""] }],
    ["a=b=c", { a: ["b=c"] }],
    ["a=&a", { a: ["", ""] }],
    ["%66id=3", { fid: ["3"] }],
    ["u=https://a.b/c?d=e", { u: ["https://a.b/c?d=e"] }],
    ["a=1&b&c=2", { a: ["1"], b: [""], c: ["2"] }],
  ] as [string, Record<string, string[]>][])("%s", (query, expected) => {
    expect(parse(query)).toEqual(expected);
  });

  test("a key may have the name of a property of Object.prototype", () => {
    const query = parseQueryString("http://localhost/?__proto__=1&constructor=2&toString=3");
    expect(Object.keys(query)).toEqual(["__proto__", "constructor", "toString"]);
    expect(query.valueOf).toBeUndefined();
  });

  test.each(["a=%", "a=%zz", "%E0%A4%A=1", "a=%ff"])("rejects %s as malformed", (query) => {
    expect(() => parse(query)).toThrow("query string is not valid percent-encoded UTF-8");
  });

  test("rejects more pairs than any route uses", () => {
    expect(parse("a=1&".repeat(1024)).a).toHaveLength(1024);
    expect(() => parse("a=1&".repeat(1025))).toThrow(ApiError);
  });

  test("parses the output of URLSearchParams", () => {
    const pairs = fc.array(fc.tuple(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" })));
    fc.assert(
      fc.property(pairs, (input) => {
        const written = new URLSearchParams(input);
        const read = parseQueryString(`http://localhost/?${written}`);
        for (const key of new Set(written.keys())) expect(read[key]).toEqual(written.getAll(key));
      }),
    );
  });

  test("any text is either parsed or rejected as a bad request", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          parseQueryString(`http://localhost/?${text}`);
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
        }
      }),
    );
  });
});

test("a list whose items may contain commas is split before it is decoded, and not at all where the key is repeated", () => {
  expect(listValues("/x?u=a%2Cb,c&v=1", "u")).toEqual(["a,b", "c"]);
  expect(listValues("/x?u=a,b&u=c", "u")).toEqual(["a,b", "c"]);
  expect(listValues("/x?u=a%3Db=c+d", "u")).toEqual(["a=b=c d"]);
  expect(listValues("/x?v=1", "u")).toEqual([]);
  expect(listValues("/x", "u")).toEqual([]);
});
