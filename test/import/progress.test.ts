import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  createProgressReporter,
  formatDuration,
  formatProgress,
  type ImportProgress,
} from "../../src/import/progress.ts";
import { ManualClock } from "../support/clock.ts";

const halfway: ImportProgress = {
  doneBytes: 5_000_000,
  totalBytes: 10_000_000,
  startedAtBytes: 0,
  records: 12_345,
  elapsedMs: 10_000,
};

function reporterOn(terminal: boolean) {
  const clock = new ManualClock(1_700_000_000);
  const written: string[] = [];
  const logged: ImportProgress[] = [];
  const reporter = createProgressReporter({
    clock,
    log: (progress) => logged.push(progress),
    output: { isTerminal: terminal, columns: () => 80, write: (text) => written.push(text) },
  });
  return { clock, written, logged, reporter };
}

describe("a line of progress", () => {
  test("shows percent, records, speed and the time left, as much as the width allows", () => {
    expect(formatProgress(halfway, 100)).toBe(
      `[${"#".repeat(20)}${"-".repeat(20)}]   50%  12,345 records  1,235/s  10s left`,
    );
    expect(formatProgress(halfway, 60)).toBe("[########--------]   50%  12,345 records  1,235/s  10s left");
    expect(formatProgress(halfway, 44)).toBe("[########--------]   50%  1,235/s  10s left");
    expect(formatProgress(halfway, 30)).toBe("[#####------]   50%  10s left");
    expect(formatProgress(halfway, 25)).toBe("[########--------]   50%");
    expect(formatProgress(halfway, 8)).toBe("50%");
    expect(formatProgress(halfway, 1)).toBe("");
  });

  test("a resumed import is judged by the speed of this run", () => {
    const resumed = { ...halfway, startedAtBytes: 4_000_000 };
    expect(formatProgress(resumed, 100)).toEndWith("50s left");
  });

  test("before anything is done the time left is unknown, and at the end there is none", () => {
    expect(formatProgress({ ...halfway, doneBytes: 0, records: 0, elapsedMs: 0 }, 100)).toEndWith("-- left");
    const done = formatProgress({ ...halfway, doneBytes: 10_000_000 }, 100);
    expect(done).toContain("100%");
    expect(done).toEndWith("0s left");
    expect(formatProgress({ ...halfway, doneBytes: 0, totalBytes: 0 }, 100)).toContain("100%");
  });

  test("no numbers make it wider than the terminal or more than one line", () => {
    const count = fc.nat(Number.MAX_SAFE_INTEGER);
    fc.assert(
      fc.property(
        fc.record({
          doneBytes: count,
          totalBytes: count,
          startedAtBytes: count,
          records: count,
          elapsedMs: count,
        }),
        fc.integer({ min: 0, max: 300 }),
        (progress, columns) => {
          const line = formatProgress(progress, columns);
          expect(line.length).toBeLessThanOrEqual(Math.max(0, columns - 1));
          expect(line).toMatch(/^[ -~]*$/);
        },
      ),
    );
  });

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
});

describe("showing progress", () => {
  test("a terminal's line is redrawn at most ten times a second and left at the end", () => {
    const { clock, written, logged, reporter } = reporterOn(true);
    for (let step = 0; step < 1000; step++) {
      reporter.update({ ...halfway, records: step });
      clock.advanceSecs(0.01);
    }
    expect(written.length).toBeWithin(90, 101);
    for (const text of written) expect(text).toStartWith("\r\u001B[K[");
    reporter.finish();
    expect(written.at(-2)).toContain("999 records");
    expect(written.at(-1)).toBe("\n");
    expect(logged).toEqual([]);
  });

  test("elsewhere nothing is written, and a log line comes every five seconds", () => {
    const { clock, written, logged, reporter } = reporterOn(false);
    for (let step = 0; step < 200; step++) {
      reporter.update({ ...halfway, records: step });
      clock.advanceSecs(0.1);
    }
    expect(written).toEqual([]);
    expect(logged.map(({ records }) => records)).toEqual([50, 100, 150]);
    reporter.finish();
    expect(logged.at(-1)?.records).toBe(199);
  });

  test("an import without a batch shows nothing", () => {
    for (const terminal of [true, false]) {
      const { written, logged, reporter } = reporterOn(terminal);
      reporter.finish();
      expect([written, logged]).toEqual([[], []]);
    }
  });
});
