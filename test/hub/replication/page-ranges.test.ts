import { expect, test } from "bun:test";
import fc from "fast-check";
import { PageWalk } from "../../../src/read/hub/snapshot/page-ranges.ts";
import {
  decodePageToken,
  encodePageToken,
  tokenAfter,
  tokensBetween,
} from "../../../src/trust/page-token.ts";

const SHARD = 3;
const key = fc
  .tuple(
    fc.integer({ min: 0, max: 40 }),
    fc.integer({ min: 1, max: 31 }),
    fc.uint8Array({ minLength: 20, maxLength: 36 }),
  )
  .map(([fid, kind, rest]) => Buffer.concat([Buffer.from([SHARD, 0, 0, 0, fid, kind * 8]), rest]));
const keys = fc
  .uniqueArray(key, { maxLength: 60, selector: (one) => one.toString("hex") })
  .map((all) => all.sort((a, b) => Buffer.compare(a, b)));

const within = (walk: PageWalk | undefined, all: readonly Buffer[]) =>
  (walk?.ranges() ?? []).flatMap(({ from, to }) =>
    all.filter((one) => Buffer.compare(one, from) >= 0 && Buffer.compare(one, to) <= 0),
  );

test("pages of any size have each key once, in ascending order", () => {
  fc.assert(
    fc.property(keys, fc.integer({ min: 1, max: 9 }), (all, perPage) => {
      const read: Buffer[] = [];
      for (let token: string | undefined, pages = 0; pages <= all.length; pages++) {
        const walk = PageWalk.at(SHARD, token);
        const left = within(walk, all);
        const page = left.slice(0, perPage);
        read.push(...page);
        const last = page.at(-1);
        if (!last || left.length <= perPage) break;
        token = walk?.tokenAfter(last);
      }
      expect(read).toEqual(all);
    }),
  );
});

test("the tokens that lead around an account have everything but it", () => {
  fc.assert(
    fc.property(keys, fc.integer({ min: 0, max: 40 }), fc.nat(), (all, around, at) => {
      const fids = [...new Set(all.map((one) => one[4] as number)), around].sort((a, b) => a - b);
      const others = all.filter((one) => one[4] !== around);
      const before = all.filter((one) => (one[4] as number) < around);
      const place = before[at % Math.max(1, before.length)];
      const token = place && PageWalk.at(SHARD, undefined)?.tokenAfter(place);
      const tokens = [
        ...tokensBetween(token === undefined ? undefined : decodePageToken(token), around, fids),
        tokenAfter(around, fids),
      ];
      const read = tokens.flatMap((one) => within(PageWalk.at(SHARD, encodePageToken(one)), all));
      expect(read).toEqual(others.filter((one) => !place || Buffer.compare(one, place) > 0));
    }),
  );
});
