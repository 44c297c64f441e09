import { expect, test } from "bun:test";
import fc from "fast-check";
import { joinSmallParts } from "../../src/lib/bytes.ts";

function grow(sizes: readonly number[]): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const size of sizes) {
    parts.push(Uint8Array.from({ length: size }, () => at++));
    joinSmallParts(parts);
  }
  return parts;
}

test("parts of any sizes keep their bytes in order, and small ones are few", () => {
  const size = fc.oneof(fc.constant(0), fc.constant(1), fc.nat(20), fc.nat(6000));
  fc.assert(
    fc.property(fc.array(size, { maxLength: 300 }), (sizes) => {
      const parts = grow(sizes);
      const total = sizes.reduce((sum, each) => sum + each, 0);
      expect(Buffer.concat(parts).equals(Uint8Array.from({ length: total }, (_, at) => at))).toBe(true);
      expect(parts.length).toBeLessThanOrEqual(2 * Math.sqrt(total) + total / 2048 + 2);
    }),
    { numRuns: 50 },
  );
});

test("thirty thousand parts of one byte become a few", () => {
  expect(grow(Array(30_000).fill(1)).length).toBeLessThan(20);
});
