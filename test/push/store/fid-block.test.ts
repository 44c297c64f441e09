import { expect, test } from "bun:test";
import fc from "fast-check";
import { BLOCK_FIDS, blockOf, FidBlock } from "../../../src/push/store/campaigns/ledger-block.ts";

test("a block contains the fids that were added and not deleted, also after it was stored and read", () => {
  const changes = fc.array(fc.record({ at: fc.nat(BLOCK_FIDS - 1), isAdded: fc.boolean() }), {
    maxLength: 60,
  });
  // Up to the last block of fids that are exact numbers.
  const block = fc.oneof(fc.nat(300), fc.constant(blockOf(Number.MAX_SAFE_INTEGER)));
  fc.assert(
    fc.property(block, changes, (number, steps) => {
      const expected = new Set<number>();
      let fids = new FidBlock();
      for (const { at, isAdded } of steps) {
        const fid = number * BLOCK_FIDS + at;
        expect(blockOf(fid)).toBe(number);
        if (isAdded) fids.add(fid);
        else fids.delete(fid);
        if (isAdded) expected.add(fid);
        else expected.delete(fid);
        const stored = fids.toStored();
        expect(stored === undefined).toBe(expected.size === 0);
        fids = new FidBlock(stored);
      }
      const all = Array.from({ length: BLOCK_FIDS }, (_, at) => number * BLOCK_FIDS + at);
      expect(all.filter((fid) => fids.has(fid))).toEqual([...expected].sort((a, b) => a - b));
    }),
    { numRuns: 50 },
  );
});

test.each([0, 9, BLOCK_FIDS / 2, BLOCK_FIDS - 1])("the single fid %p is stored in three bytes", (fid) => {
  const fids = new FidBlock();
  fids.add(fid);
  expect(fids.toStored()).toHaveLength(3);
});

test("a stored form that does not fit into the block is refused: its fids would be those of another one", () => {
  const last = BLOCK_FIDS / 8 - 1;
  const stored = (start: number) => Uint8Array.of(start >> 8, start & 0xff, 1);
  expect(new FidBlock(stored(last)).has(8 * last)).toBe(true);
  expect(() => new FidBlock(stored(last + 1))).toThrow(RangeError);
});
