import { describe, expect, test } from "bun:test";
import { createProgressReporter, formatDuration } from "../../src/runtime/progress-line.ts";
import { ManualClock } from "../support/clock.ts";

function reporterOn(terminal: boolean) {
  const clock = new ManualClock(1_700_000_000);
  const written: string[] = [];
  const logged: number[] = [];
  const reporter = createProgressReporter({
    clock,
    logIntervalMs: 5000,
    log: (step: number) => logged.push(step),
    format: (step) => `[step ${step}]`,
    output: { isTerminal: terminal, columns: () => 80, write: (text) => written.push(text) },
  });
  return { clock, written, logged, reporter };
}

test("durations show the two units that matter", () => {
  expect([0, 59_400, 59_600, 61_000, 3_599_000, 7_320_000].map(formatDuration)).toEqual([
    "0s",
    "59s",
    "1m 0s",
    "1m 1s",
    "59m 59s",
    "2h 2m",
  ]);
  expect(formatDuration(undefined)).toBe("--");
});

describe("showing progress", () => {
  test("a terminal's line is redrawn at most ten times a second and left at the end", () => {
    const { clock, written, logged, reporter } = reporterOn(true);
    for (let step = 0; step < 1000; step++) {
      reporter.update(step);
      clock.advanceSecs(0.01);
    }
    expect(written.length).toBeWithin(90, 101);
    for (const text of written) expect(text).toStartWith("\r\u001B[K[step ");
    for (const text of written) expect(text).toEndWith("]\r");
    reporter.finish();
    expect(written.at(-2)).toContain("[step 999]");
    expect(written.at(-1)).toBe("\n");
    expect(logged).toEqual([]);
  });

  test("elsewhere nothing is written, and a line is logged in each interval", () => {
    const { clock, written, logged, reporter } = reporterOn(false);
    for (let step = 0; step < 200; step++) {
      reporter.update(step);
      clock.advanceSecs(0.1);
    }
    expect(written).toEqual([]);
    expect(logged).toEqual([50, 100, 150]);
    reporter.finish();
    expect(logged.at(-1)).toBe(199);
  });

  test("what made no step shows nothing", () => {
    for (const terminal of [true, false]) {
      const { written, logged, reporter } = reporterOn(terminal);
      reporter.finish();
      expect([written, logged]).toEqual([[], []]);
    }
  });
});
