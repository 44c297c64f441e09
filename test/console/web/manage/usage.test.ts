import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  byDay,
  byRoute,
  lastDays,
  USAGE_DAYS,
  type UsageRow,
} from "../../../../src/console/web/manage/keys/key-fields.ts";

const NOW_MS = Date.UTC(2026, 2, 1, 23, 59);
const days = lastDays(NOW_MS);
const count = fc.nat({ max: 1e9 });
const row: fc.Arbitrary<UsageRow> = fc.record({
  day: fc.constantFrom(...days),
  route: fc.constantFrom("/a", "/b", "unmatched"),
  requests: count,
  units: count,
  writes: count,
  errors: count,
  limited: count,
});
const total = (rows: readonly { readonly requests: number }[]) =>
  rows.reduce((all, { requests }) => all + requests, 0);

test("the last days are those of UTC, each once, today last", () => {
  expect([days.length, days[0], days.at(-1)]).toEqual([USAGE_DAYS, "2026-01-31", "2026-03-01"]);
});

test("no use is lost or counted twice, by day and by route", () => {
  fc.assert(
    fc.property(fc.array(row), (rows) => {
      const ofDays = byDay(rows, days);
      const ofRoutes = byRoute(rows);
      expect(ofDays.map(({ day }) => day)).toEqual(days);
      expect(total(ofDays.map(({ counts }) => counts))).toBe(total(rows));
      expect(total(ofRoutes.map(({ counts }) => counts))).toBe(total(rows));
      const used = ofRoutes.map(({ counts }) => counts.requests);
      expect(used).toEqual(used.toSorted((a, b) => b - a));
    }),
  );
});
