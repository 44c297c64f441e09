import { expect, test } from "bun:test";
import { createCachedSeries } from "../../../src/console/pulse/series-page.ts";
import { ManualClock } from "../../support/clock.ts";

const NOW = 1_790_000_000;

test("the whole history is read once for all pages, and the last minutes for each", async () => {
  const reads: [step: number, since: number][] = [];
  const t = [NOW - 80_000, NOW - 3_000, NOW - 60];
  const series = createCachedSeries(async (step, since) => {
    reads.push([step, since]);
    return { node: "a", step_secs: step, t: t.filter((at) => at > since), series: {} };
  }, new ManualClock(NOW));
  const answers = await Promise.all([series(60, 0), series(60, NOW - 4_000), series(60, NOW - 120)]);
  expect(answers.map((page) => page.t)).toEqual([t, t.slice(1), t.slice(2)]);
  expect(reads).toEqual([
    [60, 0],
    [60, NOW - 120],
  ]);
});
