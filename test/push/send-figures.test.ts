import { expect, test } from "bun:test";
import { failure } from "../../src/push/fan-out/client-response.ts";
import type { FanOutStats } from "../../src/push/fan-out/fan-out.ts";
import { SendCounters } from "../../src/push/fan-out/send-stats.ts";
import { SENDS_AT_REST, sendFigures } from "../../src/push/send-figures.ts";
import type { Samples } from "../../src/runtime/figures/figures.ts";

const failedCalls = (stats: FanOutStats) =>
  sendFigures
    .find(({ metric }) => metric?.name === "send_failed_calls_total")
    ?.metric?.samples(stats) as Samples;
const series = (name: string, stats: FanOutStats) =>
  sendFigures.find((figure) => figure.series?.name === name)?.series?.read(stats);

const sent = { kind: "success", reason: "", isRetryable: false } as const;

test("calls without a response are counted by class over all hosts, and each class exists from the start", () => {
  const counters = new SendCounters();
  counters.countCall("a.example", "timeout", 1);
  counters.countCall("b.example", "timeout", 1);
  counters.countCall("a.example", "response", 1);
  const atRest = failedCalls(SENDS_AT_REST);
  expect(atRest).toContainEqual([{ class: "timeout" }, 0]);
  expect(failedCalls({ ...SENDS_AT_REST, ...counters.stats() })).toEqual(
    atRest.map(([labels]) => [labels, labels.class === "timeout" ? 2 : 0]),
  );
});

test("the history counts campaigns that run or wait", () => {
  const stats = { ...SENDS_AT_REST, campaignsRunning: 2, campaignsQueued: 5 };
  expect(series("campaigns", stats)).toBe(7);
  // The queue is unknown while the state does not respond.
  expect(series("campaigns", { ...stats, campaignsQueued: null })).toBe(2);
});

test("the history counts tokens that were sent to, of all hosts, and none that was left out", () => {
  const counters = new SendCounters();
  counters.countTokens("a.example", [sent, failure("dns")]);
  counters.countTokens("b.example", [sent]);
  counters.countNotAttempted("b.example", 1000);
  expect(series("pushes_per_second", { ...SENDS_AT_REST, ...counters.stats() })).toBe(3);
});
