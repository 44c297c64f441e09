import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { registerFigures } from "../../src/runtime/figures/figure-metrics.ts";
import { counters, figureOf, gauge, gaugeBy, statusOf } from "../../src/runtime/figures/figures.ts";

interface Stats {
  readonly depth: number | null;
  readonly byState: Readonly<Record<string, number>>;
  readonly ended: readonly (readonly [code: string, count: number])[];
}

const figure = figureOf<Stats>();
const figures = [
  figure({ read: ({ depth }) => depth, metric: gauge("depth", "Waiting."), status: "queue.depth" }),
  figure({
    read: ({ byState }) => byState,
    metric: gaugeBy("state", "rows", "Rows by state."),
    status: ["queue.rows", (rows) => Object.keys(rows).length],
  }),
  figure({
    read: ({ ended }) => ended.map(([code, count]) => [{ code }, count] as const),
    metric: counters("ended_total", "Ended.", ["code"]),
  }),
];
const other = figureOf<number>()({ read: (now) => now, status: "queue.limit" });
const alone = figureOf<number>()({ read: (now) => now, status: "disk.space.free" });

test("a figure has its metric and its key in the status from one declaration", async () => {
  const registry = new Registry();
  let now: Stats = { depth: 3, byState: { due: 2, late: 1 }, ended: [["ok", 4]] };
  registerFigures({ registry, prefix: "svc_" }, figures, () => now);
  const samples = async () => (await registry.metrics()).split("\n").filter((line) => /^svc/.test(line));
  expect(await samples()).toEqual([
    "svc_depth 3",
    'svc_rows{state="due"} 2',
    'svc_rows{state="late"} 1',
    'svc_ended_total{code="ok"} 4',
  ]);
  now = { depth: null, byState: { due: 1 }, ended: [["ok", 5]] };
  // Neither a gauge without a value nor a label that is no longer there has a sample.
  expect(await samples()).toEqual(['svc_rows{state="due"} 1', 'svc_ended_total{code="ok"} 5']);
  expect(statusOf([{ figures, now }])).toEqual({ queue: { depth: null, rows: 1 } });
});

test("what a part without stats shares with no other is null as a whole", () => {
  expect(
    statusOf([
      { figures, now: undefined },
      { figures: [other], now: 9 },
      { figures: [alone], now: undefined },
    ]),
  ).toEqual({ queue: { depth: null, rows: null, limit: 9 }, disk: null });
});
