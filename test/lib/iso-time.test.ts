import { expect, test } from "bun:test";
import fc from "fast-check";
import { isoTime } from "../../src/lib/iso-time.ts";

test("writes every time as Date does, clamped to the range of Date", () => {
  const maxSecs = 8_640_000_000_000;
  const secs = fc.oneof(
    fc.integer({ min: 0, max: 4_000_000_000 }),
    fc.integer({ min: -maxSecs, max: 2 * maxSecs }),
    fc.double({ min: 0, max: 4_000_000_000, noNaN: true }),
  );
  fc.assert(
    fc.property(secs, (time) => {
      expect(isoTime(time)).toBe(new Date(Math.min(time, maxSecs) * 1000).toISOString());
    }),
  );
});
