import { describe, expect, test } from "bun:test";
import { decodeQuery, fid, limit, type QueryParam, renamed } from "../../src/http/request/params.ts";
import { parseQueryString } from "../../src/http/request/query-string.ts";
import { choiceList, decimal, flag } from "../../src/http/request/word-params.ts";

const decode = <T>(param: QueryParam<T>, query: string): T =>
  decodeQuery({ p: param }, parseQueryString(`http://x/?${query}`)).p;

describe("choiceList", () => {
  const param = choiceList(["likes", "recasts"]);
  test("accepts commas, repeated keys and both, in the order of the words; all words if absent or with `all`", () => {
    for (const query of [
      "p=likes&p=recasts",
      "p=recasts,likes",
      "p=likes%2Crecasts",
      "",
      "p=",
      "p=all",
      "p=likes,all",
    ])
      expect({ query, value: decode(param, query) }).toEqual({ query, value: ["likes", "recasts"] });
    expect(decode(param, "p=recasts")).toEqual(["recasts"]);
    expect(decode(param, "p=recasts&p=recasts,")).toEqual(["recasts"]);
  });
  test("rejects another word, naming the parameter", () => {
    for (const query of ["p=loves", "p=likes,loves", "p=,", "p=Likes"])
      expect(() => decode(param, query)).toThrow(/\bp\b/);
  });
});

test("flag accepts only true and false, and is its fallback if absent", () => {
  expect(decode(flag(true), "p=false")).toBe(false);
  expect(decode(flag(false), "p=true")).toBe(true);
  expect(decode(flag(true), "")).toBe(true);
  expect(decode(flag(false), "p=")).toBe(false);
  for (const query of ["p=1", "p=TRUE", "p=yes", "p=true&p=true"])
    expect(() => decode(flag(true), query)).toThrow("p");
});

test("decimal accepts a plain number within its range", () => {
  const param = decimal({ min: -90, max: 90 });
  for (const [text, value] of [
    ["0", 0],
    ["-90", -90],
    ["90.0", 90],
    ["52.5200065999", 52.5200065999],
  ] as const)
    expect(decode(param, `p=${text}`)).toBe(value);
  for (const text of ["", "90.1", "-91", "1e1", "NaN", "0x1", ".5", "5.", "+5", "1,5"])
    expect(() => decode(param, `p=${text}`)).toThrow("p");
});

test("a renamed parameter is read from the first present key, and errors name that key or the documented one", () => {
  const params = { fid: renamed(fid(), "target_fid", "fid"), size: renamed(limit(5), "limit") };
  const read = (query: string) => decodeQuery(params, parseQueryString(`http://x/?${query}`));
  expect(read("target_fid=3&limit=7")).toEqual({ fid: 3, size: 7 });
  expect(read("fid=4")).toEqual({ fid: 4, size: 5 });
  expect(read("fid=4&target_fid=3").fid).toBe(3);
  expect(() => read("")).toThrow("target_fid");
});
