import { expect, test } from "bun:test";
import fc from "fast-check";
import { pageParams } from "../../src/api/operations/hub/params.ts";
import { askedOf, flat, perIds, perRows } from "../../src/http/limits/prices.ts";
import { fidList, limit, type QueryParams, renamed } from "../../src/http/request/params.ts";

const BASE = "http://h/v2/svc/x";
const page: QueryParams = { limit: limit() };
const ids: QueryParams = { fids: renamed(fidList({ maxItems: 350 }), "fids", "ids"), limit: limit() };
const rowsOf = (query: string) => perRows(2)(askedOf(page)(`${BASE}?${query}`));
const idsOf = (query: string) => perIds(5)(askedOf(ids)(`${BASE}?${query}`));

test("a price follows the page size as the route decodes it: its default, its maximum, and any spelling", () => {
  expect(flat(3)(askedOf({})(BASE))).toBe(3);
  expect(["", "a=1", "limit=", "limit=25", "limit=26", "limit=100", "limit=999999"].map(rowsOf)).toEqual([
    2, 2, 2, 2, 4, 8, 8,
  ]);
  expect(
    ["%6cimit=100", "limit=%31%30%30", "limit=00100", "x=%3F&%6C%69%6D%69%74=1%30%30"].map(rowsOf),
  ).toEqual([8, 8, 8, 8]);
  // Refused by the route.
  expect(["limit=-1", "limit=0", "limit=100&limit=100", "limit=%ff"].map(rowsOf)).toEqual([2, 2, 2, 2]);
});

test("a list of the hub is priced by its default page, in both spellings of the parameter", () => {
  const of = (query: string) => perRows(5)(askedOf(pageParams)(`http://h/v1/castsByFid?fid=3${query}`));
  expect(
    ["", "&page_size=0", "&pageSize=", "&pageSize=25", "&page_size=26", "&page%53ize=200000"].map(of),
  ).toEqual([200, 200, 200, 5, 10, 2000]);
});

test("a price follows the number of ids, however they are separated and whichever key names them", () => {
  const many = (n: number, comma: string) => Array(n).fill(7).join(comma);
  expect(
    [
      `fids=${many(25, ",")}`,
      `fids=${many(26, "%2C")}`,
      `fids=${many(350, "%2c")}`,
      `ids=${many(50, ",")}`,
    ].map(idsOf),
  ).toEqual([5, 10, 70, 10]);
  expect(
    [
      `fids=${many(25, ",")}&viewer_fid=3`,
      `fids=${many(50, "&fids=")}`,
      `%66ids=${many(50, "&%66ids=")}`,
    ].map(idsOf),
  ).toEqual([5, 10, 10]);
});

test("any percent-encoding of a query has its price", () => {
  const encoded = (text: string, marks: readonly boolean[]) =>
    [...text].map((char, at) => (marks[at] ? `%${char.charCodeAt(0).toString(16)}` : char)).join("");
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.array(fc.boolean(), { minLength: 12 }),
      (size, marks) => {
        const [name, value] = [encoded("limit", marks), encoded(String(size), marks.slice(5))];
        expect(rowsOf(`${name}=${value}`)).toBe(2 * Math.ceil(size / 25));
      },
    ),
  );
});
