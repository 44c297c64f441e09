import { describe, expect, test } from "bun:test";
import { createHistory, FigureRing } from "../../../src/console/pulse/history.ts";
import { pageSince, seriesPage } from "../../../src/console/pulse/series-page.ts";

const MAX_BYTES = 1024 * 1024;
const NOW = 1_790_000_000 - (1_790_000_000 % 60);

const SERIES = [
  { name: "merged_per_second", minute: "mean" },
  { name: "p99_ms", minute: "max" },
  { name: "streams", minute: "max" },
] as const;

describe("the history of figures", () => {
  test("has 48 series in at most 1 MB", () => {
    const series = Array.from({ length: 48 }, (_, at) => ({ name: `series ${at}`, minute: "max" as const }));
    expect(createHistory(series).bytes).toBeLessThanOrEqual(MAX_BYTES);
  });

  test("of more than a day has the samples of an hour and the minutes of a day, in the same memory", () => {
    const history = createHistory(SERIES);
    const { bytes } = history;
    const samples = 25 * 720;
    for (let at = 0; at < samples; at++)
      history.add(NOW + at * 5, { merged_per_second: at, p99_ms: at % 12 });
    const last = NOW + (samples - 1) * 5;
    expect(history.bytes).toBe(bytes);

    const fine = history.since(0, 5);
    expect([fine.t.length, fine.t[0], fine.t.at(-1)]).toEqual([720, last - 719 * 5, last]);
    const [merged, peak] = [0, 1];
    expect(fine.columns[merged]?.at(-1)).toBe(samples - 1);

    const coarse = history.since(0, 60);
    // The current minute is not there yet.
    expect([coarse.t.length, coarse.t.at(-1)]).toEqual([1440, last - 55 - 60]);
    const lastMinute = samples - 24;
    expect(coarse.columns[merged]?.at(-1)).toBeCloseTo(lastMinute + 5.5, 1);
    expect(coarse.columns[peak]?.at(-1)).toBe(11);
  });

  test("gives only the rows after a time", () => {
    const history = createHistory(SERIES);
    for (let at = 0; at < 10; at++) history.add(NOW + at * 5, { p99_ms: at });
    expect([...history.since(NOW + 35, 5).t]).toEqual([NOW + 40, NOW + 45]);
    expect([...history.since(NOW + 45, 5).t]).toEqual([]);
    const page = seriesPage(history.since(0, 5), SERIES, {
      node: "a",
      stepSecs: 5,
      isShown: ({ name }) => name !== "merged_per_second",
    });
    expect(pageSince(page, NOW + 39)).toEqual({
      node: "a",
      step_secs: 5,
      t: [NOW + 40, NOW + 45],
      series: { p99_ms: [8, 9], streams: [null, null] },
    });
    expect(pageSince(page, NOW + 45).t).toEqual([]);
  });

  test("is empty when the clock is set back, so that its times always rise", () => {
    const ring = new FigureRing({ series: 1, rows: 4, stepSecs: 5 });
    for (const t of [100, 105, 110, 111, 108, 115]) ring.add(t, [t]);
    expect([...ring.since(0).t]).toEqual([105, 110, 111, 115]);
    ring.add(50, [1]);
    ring.add(55, [2]);
    expect([...ring.since(0).t]).toEqual([50, 55]);
  });
});
