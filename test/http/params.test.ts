import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  address,
  addressList,
  choice,
  cursor,
  decodeQuery,
  fid,
  fidList,
  hash,
  hashList,
  integer,
  limit,
  optional,
  parseFid,
  type QueryParam,
  text,
  textList,
} from "../../src/http/request/params.ts";
import { parseQueryString } from "../../src/http/request/query-string.ts";
import { UNKNOWN_FID } from "../../src/protocol/fid.ts";

function decode<T>(param: QueryParam<T>, query: string): T {
  return decodeQuery({ p: param }, parseQueryString(`http://localhost/?${query}`)).p;
}

const maxItems = 350;
const hex = "0xAbCdEf0123456789aBcDeF0123456789abcdef01";

describe("fid", () => {
  test.each([
    ["0", 0],
    ["3", 3],
    ["007", 7],
    ["999999999999999", 999_999_999_999_999],
    ["9007199254740991", Number.MAX_SAFE_INTEGER],
    // A float would make these 9007199254740992, 9007199254740992 and 18446744073709552000.
    ["9007199254740992", UNKNOWN_FID],
    ["9007199254740993", UNKNOWN_FID],
    ["18446744073709551615", UNKNOWN_FID],
  ])("%s is %d", (value, expected) => {
    expect(decode(fid(), `p=${value}`)).toBe(expected);
  });

  test.each([
    "18446744073709551616",
    "99999999999999999999",
    "000000000000000000003",
    "-1",
    "+1",
    "1.0",
    "1e3",
    "0x1",
    " 1",
    "1 ",
    "٣",
    "abc",
  ])("rejects %s", (input) => {
    expect(() => decode(fid(), `p=${encodeURIComponent(input)}`)).toThrow("p must be an unsigned integer");
  });

  test("maps no fid above 2^53 - 1 to another fid", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        const parsed = parseFid(value.toString());
        expect(parsed).toBe(value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : UNKNOWN_FID);
      }),
    );
  });

  test.each(["", "p=", "q=1", "p"])("%p leaves it missing", (query) => {
    expect(() => decode(fid(), query)).toThrow("missing query parameter p");
  });

  test("rejects a repeated parameter", () => {
    expect(() => decode(fid(), "p=1&p=1")).toThrow("query parameter p must be given once");
  });
});

describe("lists", () => {
  test.each([
    "p=1,2,3",
    "p=1&p=2&p=3",
    "p=1,2&p=3",
    "p=1%2C2%2c3",
    "p=,1,,2,&p=&p=3,",
    "p=1,+2,%203",
    "p=1,2,1&p=3,2",
  ])("%s is 1, 2, 3", (query) => {
    expect(decode(fidList({ maxItems }), query)).toEqual([1, 2, 3]);
  });

  test.each(["", "p=", "p=,,", "p=&p="])("%p is missing", (query) => {
    expect(() => decode(fidList({ maxItems }), query)).toThrow("missing query parameter p");
  });

  test("have at most the maximum number of items, however they are written", () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
    expect(decode(fidList({ maxItems }), `p=${many(350)}`)).toHaveLength(350);
    const tooMany = "p must hold at most 350 items";
    expect(() => decode(fidList({ maxItems }), `p=${many(351)}`)).toThrow(tooMany);
    expect(() =>
      decode(
        fidList({ maxItems }),
        many(351)
          .map((item) => `p=${item}`)
          .join("&"),
      ),
    ).toThrow(tooMany);
    expect(() => decode(fidList({ maxItems }), `p=${"1,".repeat(351)}`)).toThrow(tooMany);
  });

  test("name the parameter of an invalid item", () => {
    expect(() => decode(fidList({ maxItems }), "p=1,x")).toThrow("p must be a list of unsigned integers");
    expect(() => decode(hashList({ maxItems }), `p=${hex},0x12`)).toThrow("p must be 0x and 40 hex digits");
    expect(() => decode(addressList({ maxItems }), "p=abc")).toThrow("p must be 0x and 40 hex digits");
  });

  test("do not change the items of text lists", () => {
    expect(decode(textList({ maxItems }), "p=https://a.b/C,chain://x")).toEqual([
      "https://a.b/C",
      "chain://x",
    ]);
    expect(() => decode(textList({ maxItems, maxChars: 3 }), "p=abc,abcd")).toThrow(
      "p must be at most 3 characters",
    );
  });
});

describe("hash and address", () => {
  test.each([hash(), address()])("take hex of either case as lower case", (param) => {
    expect(decode(param, `p=${hex}`)).toBe(hex.toLowerCase() as `0x${string}`);
  });

  test.each([hex.slice(2), `${hex}0`, hex.slice(0, -1), `0X${hex.slice(2)}`, `${hex.slice(0, -1)}g`, "0x"])(
    "refuse %s",
    (input) => {
      expect(() => decode(hash(), `p=${input}`)).toThrow("p must be 0x and 40 hex digits");
    },
  );
});

describe("limit", () => {
  test.each([
    ["", 10],
    ["p=", 10],
    ["p=1", 1],
    ["p=100", 100],
    ["p=101", 100],
    ["p=99999999999999999999999999", 100],
  ])("%p is %d", (query, expected) => {
    expect(decode(limit(), query)).toBe(expected);
  });

  test.each(["0", "00", "-1", "1.5", "x", "1e2", "NaN"])("rejects %s", (input) => {
    expect(() => decode(limit(), `p=${input}`)).toThrow("p must be a positive integer");
  });
});

describe("the other kinds", () => {
  test("choice accepts only its words", () => {
    const kind = optional(choice(["likes", "recasts"]), "likes");
    expect(decode(kind, "")).toBe("likes");
    expect(decode(kind, "p=recasts")).toBe("recasts");
    expect(() => decode(kind, "p=Likes")).toThrow("p must be one of likes, recasts");
  });

  test("integer accepts only its range", () => {
    const depth = optional(integer({ min: 0, max: 5 }), 2);
    expect(["", "p=0", "p=5"].map((query) => decode(depth, query))).toEqual([2, 0, 5]);
    for (const input of ["6", "-1", "1.0", "x"]) {
      expect(() => decode(depth, `p=${input}`)).toThrow("p must be an integer from 0 to 5");
    }
  });

  test("text has a maximum length", () => {
    expect(decode(text({ maxChars: 3 }), "p=a+b")).toBe("a b");
    expect(() => decode(text({ maxChars: 3 }), "p=abcd")).toThrow("p must be at most 3 characters");
  });

  test("cursor may be absent or empty, and has a maximum length", () => {
    expect(decode(cursor(), "")).toBeUndefined();
    expect(decode(cursor(), "p=")).toBeUndefined();
    expect(decode(cursor(), "p=abc")).toBe("abc");
    expect(() => decode(cursor(), `p=${"a".repeat(513)}`)).toThrow("p must be at most 512 characters");
  });

  test("ignores unknown parameters", () => {
    const raw = parseQueryString("http://localhost/?fid=1&api_key=x&viewer=%7B%7D");
    expect(decodeQuery({ fid: fid() }, raw)).toEqual({ fid: 1 });
  });
});
