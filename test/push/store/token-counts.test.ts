import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  ADDED,
  type CountChange,
  cohortCounts,
  countRows,
  type DayCount,
  dayCounts,
  startOfWeek,
  sumOfChanges,
  sumOfDays,
  totalsOf,
  weekOf,
} from "../../../src/push/store/tokens/token-counts.ts";
import { tokenStates } from "../../../src/push/store/tokens/token-store.ts";

const change: fc.Arbitrary<CountChange> = fc.record({
  appId: fc.constantFrom("a", "b"),
  clientFid: fc.constantFrom(2, 10),
  host: fc.constantFrom("", "h.example"),
  state: fc.constantFrom(...tokenStates),
  count: fc.integer({ min: -2, max: 2 }),
});
const day: fc.Arbitrary<DayCount> = fc.record({
  appId: fc.constantFrom("a", "b"),
  day: fc.constantFrom(9, 10),
  change: fc.constantFrom("added", "removed", "disabled", "invalidated"),
  count: fc.integer({ min: 1, max: 3 }),
});

/** The sum of the counts of each key. */
function sums<T extends { readonly count: number }>(items: readonly T[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { count, ...key } of items) {
    const text = JSON.stringify(key);
    found[text] = (found[text] ?? 0) + count;
  }
  return Object.fromEntries(Object.entries(found).filter(([, sum]) => sum !== 0));
}

// Writers that lock rows in different orders would wait for each other.
test("changes of any order become one change of each row, none of 0, in one order", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const summed = sumOfChanges(changes);
      expect(sums(summed)).toEqual(sums(changes));
      expect(summed).toHaveLength(Object.keys(sums(changes)).length);
      expect(sumOfChanges(changes.toReversed())).toEqual(summed);
    }),
  );
  const rows = (["a", "b"] as const).flatMap((appId) =>
    [2, 10].flatMap((clientFid) =>
      ["", "h.example"].flatMap((host) =>
        (["disabled", "enabled", "no_token"] as const).map((state) => ({
          appId,
          clientFid,
          host,
          state,
          count: 1,
        })),
      ),
    ),
  );
  expect(sumOfChanges(rows.toReversed())).toEqual(rows);
});

test("counts of weeks are in one order of app, week and age, in which their rows are locked", () => {
  const nowSecs = startOfWeek(103);
  const changes = ["a", "b"].flatMap((app) =>
    [103, 101, 102].flatMap((week) =>
      countRows(
        app,
        [{ client_fid: 2, host: null, enabled: true, has_token: true, created_at: startOfWeek(week) }],
        1,
        { isNew: true },
      ),
    ),
  );
  const expected = ["a", "b"].flatMap((appId) =>
    [101, 102, 103].flatMap((week) => [ADDED, 103 - week].map((age) => ({ appId, week, age, count: 1 }))),
  );
  for (const shuffled of [changes, changes.toReversed()])
    expect(cohortCounts(shuffled, nowSecs)).toEqual(expected);
});

test("days of any order become one count of each day and change, in one order", () => {
  fc.assert(
    fc.property(fc.array(day, { maxLength: 30 }), (days) => {
      const summed = sumOfDays(days);
      expect(sums(summed)).toEqual(sums(days));
      expect(summed).toHaveLength(Object.keys(sums(days)).length);
      expect(sumOfDays(days.toReversed())).toEqual(summed);
    }),
  );
  const days = (["a", "b"] as const).flatMap((appId) =>
    [9, 10].flatMap((number) =>
      (["added", "disabled", "removed"] as const).map((of) => ({ appId, day: number, change: of, count: 1 })),
    ),
  );
  expect(sumOfDays(days.toReversed())).toEqual(days);
});

test("the totals of all apps are the sums by state", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const byState = changes.map(({ state, count }) => ({ state, count }));
      const expected = Object.entries(sums(byState)).map(([key, sum]) => [JSON.parse(key).state, sum]);
      expect(totalsOf(changes)).toEqual(Object.fromEntries(expected));
    }),
  );
});

test("a day counts the net number of tokens that became enabled, or that no longer are, by app", () => {
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 30 }),
      fc.constantFrom("removed", "disabled"),
      (changes, loss) => {
        const days = dayCounts(changes, loss, 3 * 86_400 - 1);
        const enabled = changes.filter(({ state }) => state === "enabled");
        const net = sums(enabled.map(({ appId, count }) => ({ appId, count })));
        const signed = days.map(({ appId, change, count }) => ({
          appId,
          count: change === "added" ? count : -count,
        }));
        expect(sums(signed)).toEqual(net);
        for (const { day, change, count } of days) {
          expect([day, count > 0, ["added", loss].includes(change)]).toEqual([2, true, true]);
        }
      },
    ),
  );
});

test.each([
  [{ enabled: 1, has_token: 1 }, "enabled"],
  [{ enabled: false, has_token: true }, "disabled"],
  [{ enabled: 1, has_token: 0 }, "no_token"],
] as const)("a row with %j is counted as %s", (row, state) => {
  const rows = [{ client_fid: 2, host: state === "no_token" ? null : "h.example", created_at: 7, ...row }];
  expect(countRows("a", rows, -1)).toEqual([
    {
      appId: "a",
      clientFid: 2,
      host: state === "no_token" ? "" : "h.example",
      state,
      count: -1,
      createdAt: 7,
      isNew: false,
    },
  ]);
});

test("a week begins on Monday in UTC", () => {
  const monday = Date.UTC(2026, 10, 23) / 1000;
  expect(weekOf(monday)).toBe(weekOf(monday - 1) + 1);
  expect(weekOf(monday + 7 * 86_400 - 1)).toBe(weekOf(monday));
  expect(startOfWeek(weekOf(monday + 12_345))).toBe(monday);
  expect(weekOf(0)).toBe(0);
});

test("a token counts in the week of its addition, and what happens to it in the weeks after that, up to the twelfth", () => {
  const week = 7 * 86_400;
  const at = startOfWeek(100) + 5;
  const row = { client_fid: 2, host: "h.example", enabled: true, has_token: true, created_at: at };
  const added = countRows("a", [row], 1, { isNew: true });
  expect(cohortCounts(added, at)).toEqual([
    { appId: "a", week: 100, age: ADDED, count: 1 },
    { appId: "a", week: 100, age: 0, count: 1 },
  ]);
  const lost = [...countRows("a", [row], -1), ...countRows("a", [{ ...row, enabled: false }], 1)];
  expect(cohortCounts(lost, at + 12 * week)).toEqual([{ appId: "a", week: 100, age: 12, count: -1 }]);
  expect(cohortCounts(lost, at + 13 * week)).toEqual([]);
  // A clock that went back.
  expect(cohortCounts(lost, at - week)).toEqual([{ appId: "a", week: 100, age: 0, count: -1 }]);
  expect(cohortCounts([...added, ...lost], at)).toEqual([{ appId: "a", week: 100, age: ADDED, count: 1 }]);
});
