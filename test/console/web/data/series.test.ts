import { describe, expect, test } from "bun:test";
import { joinSeries, latestOf, type SeriesColumns } from "../../../../src/console/web/status/series.ts";

const columns = (t: number[], a: (number | null)[], change: Partial<SeriesColumns> = {}): SeriesColumns => ({
  node: "n1",
  step_secs: 5,
  t,
  series: { a },
  ...change,
});

describe("joinSeries", () => {
  test("adds newer rows once, and drops those older than the range", () => {
    const first = joinSeries(undefined, columns([100, 105, 110], [1, 2, 3]), 10);
    expect(first).toEqual(columns([105, 110], [2, 3]));
    // A response that overlaps adds nothing twice.
    expect(joinSeries(first, columns([110, 115], [3, 4]), 10)).toEqual(columns([110, 115], [3, 4]));
    expect(joinSeries(first, columns([], []), 10)).toEqual(first);
  });

  test("never mixes the figures of two nodes or distances", () => {
    const first = columns([100, 105], [1, 2]);
    const other = columns([90, 95], [8, 9], { node: "n2" });
    expect(joinSeries(first, other, 60)).toEqual(other);
    const coarse = columns([60, 120], [5, 6], { step_secs: 60 });
    expect(joinSeries(first, coarse, 600)).toEqual(coarse);
  });

  test("a series that is new has no earlier values", () => {
    const next = columns([110], [3], { series: { a: [3], b: [7] } });
    expect(joinSeries(columns([105], [2]), next, 60).series).toEqual({ a: [2, 3], b: [null, 7] });
  });
});

test("the latest value of a series is undefined where it has none", () => {
  expect(latestOf(columns([1, 2], [5, null]), "a")).toBeUndefined();
  expect(latestOf(columns([1, 2], [5, 0]), "a")).toBe(0);
  expect(latestOf(undefined, "a")).toBeUndefined();
});
