import { expect, test } from "bun:test";
import fc from "fast-check";
import { fidTest, packFids } from "../../../src/push/store/fid-list.ts";

test("a packed list has the fids that were given, in any order, and no others", () => {
  const fid = fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: Number.MAX_SAFE_INTEGER }));
  fc.assert(
    fc.property(fc.array(fid, { maxLength: 50 }), fc.array(fid), (fids, others) => {
      const isListed = fidTest(packFids(fids));
      for (const one of [...fids, ...others]) expect(isListed(one)).toBe(fids.includes(one));
    }),
  );
});

test("100,000 users of the network take under two bytes each, and any others under nine", () => {
  const packed = (distance: number) =>
    packFids(Array.from({ length: 100_000 }, (_, at) => at * distance)).length;
  expect(packed(11)).toBeLessThan(140_000);
  expect(packed(90_000_000_000)).toBeLessThan(900_000);
});
