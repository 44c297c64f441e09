import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { formatProgress, type ImportProgress } from "../../src/import/summary.ts";

const halfway: ImportProgress = {
  doneBytes: 5_000_000,
  totalBytes: 10_000_000,
  startedAtBytes: 0,
  records: 12_345,
  elapsedMs: 10_000,
};

describe("formatProgress", () => {
  test("shows percent, records, rate and time left, as far as they fit into the width", () => {
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

  test("estimates the time left of a resumed import from the rate of this run", () => {
    const resumed = { ...halfway, startedAtBytes: 4_000_000 };
    expect(formatProgress(resumed, 100)).toEndWith("50s left");
  });

  test("the time left is unknown at the start and zero at the end", () => {
    expect(formatProgress({ ...halfway, doneBytes: 0, records: 0, elapsedMs: 0 }, 100)).toEndWith("-- left");
    const done = formatProgress({ ...halfway, doneBytes: 10_000_000 }, 100);
    expect(done).toContain("100%");
    expect(done).toEndWith("0s left");
    expect(formatProgress({ ...halfway, doneBytes: 0, totalBytes: 0 }, 100)).toContain("100%");
  });

  test("is never wider than the terminal or longer than one line", () => {
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
});
