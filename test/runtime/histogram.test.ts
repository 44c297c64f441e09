import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { CallDurations } from "../../src/runtime/figures/call-durations.ts";
import { registerFigures } from "../../src/runtime/figures/figure-metrics.ts";
import { durations, figureOf } from "../../src/runtime/figures/figures.ts";
import { violationsOf } from "../support/exposition.ts";

test("shows the durations that another thread counts as one histogram, current at every scrape", async () => {
  const registry = new Registry();
  const calls = new CallDurations();
  const figure = figureOf<CallDurations>()({
    read: (now) => now.stats(),
    metric: durations("call_seconds", "How long calls took."),
  });
  registerFigures({ registry, prefix: "svc_" }, [figure], () => calls);
  expect(violationsOf(await registry.metrics())).toEqual([]);
  for (const ms of [50, 51, 900, 120_000]) calls.count(ms);
  const text = await registry.metrics();
  expect(violationsOf(text)).toEqual([]);
  expect(text.split("\n").slice(0, 4)).toEqual([
    "# HELP svc_call_seconds How long calls took.",
    "# TYPE svc_call_seconds histogram",
    'svc_call_seconds_bucket{le="0.05"} 1',
    'svc_call_seconds_bucket{le="0.1"} 2',
  ]);
  expect(text).toContain('svc_call_seconds_bucket{le="1"} 3\n');
  expect(text).toContain(
    'svc_call_seconds_bucket{le="+Inf"} 4\nsvc_call_seconds_sum 121.001\nsvc_call_seconds_count 4\n',
  );
});

const histogram = (...samples: readonly string[]) =>
  `# HELP h h\n# TYPE h histogram\n${samples.map((sample) => `h_${sample}\n`).join("")}`;

test.each([
  ["a counter of another name", "# HELP a a\n# TYPE a counter\na 1\n"],
  ["a bucket that is a counter", '# HELP a_bucket a\n# TYPE a_bucket counter\na_bucket{le="1"} 1\n'],
  ["a family without help", "# TYPE a gauge\na 1\n"],
  [
    "a family in two pieces",
    '# HELP a a\n# TYPE a gauge\na 1\n# HELP b b\n# TYPE b gauge\nb 1\na{x="1"} 1\n',
  ],
  ["a series twice", "# HELP a a\n# TYPE a gauge\na 1\na 2\n"],
  ["no number", "# HELP a a\n# TYPE a gauge\na NaN?\n"],
  ["broken labels", '# HELP a a\n# TYPE a gauge\na{x="1} 1\n'],
  ["buckets that fall", histogram('bucket{le="1"} 2', 'bucket{le="+Inf"} 1', "sum 1", "count 1")],
  [
    "bounds that fall",
    histogram('bucket{le="2"} 1', 'bucket{le="1"} 1', 'bucket{le="+Inf"} 1', "sum 1", "count 1"),
  ],
  ["no bucket for all", histogram('bucket{le="1"} 1', "sum 1", "count 1")],
  ["another count", histogram('bucket{le="+Inf"} 1', "sum 1", "count 2")],
  ["no sum", histogram('bucket{le="+Inf"} 1', "count 1")],
])("the rules of the text format refuse %s", (_, page) => {
  expect(violationsOf(page)).not.toEqual([]);
});
