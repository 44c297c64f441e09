import { expect, test } from "bun:test";
import fc from "fast-check";
import { fidOfU64, UNKNOWN_FID } from "../../src/protocol/fid.ts";

test("a fid is its exact number up to 2^53 - 1, and the unknown fid above: none is rounded to that of another user", () => {
  const largest = BigInt(Number.MAX_SAFE_INTEGER);
  expect(fidOfU64(largest)).toBe(Number.MAX_SAFE_INTEGER);
  expect(fidOfU64(largest + 1n)).toBe(UNKNOWN_FID);
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
      const fid = fidOfU64(value);
      expect(fid === UNKNOWN_FID ? value > largest : BigInt(fid) === value).toBe(true);
    }),
  );
});
