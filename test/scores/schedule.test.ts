import { expect, test } from "bun:test";
import { scheduleScores } from "../../src/scores/schedule.ts";
import { ManualClock } from "../support/clock.ts";

const HOUR_MS = 3_600_000;
const DAY_SECS = 86_400;
const FOUR = 20_000 * DAY_SECS + 4 * 3600;

function start({
  nowSecs,
  lastSecs,
  reasons = [],
}: {
  nowSecs: number;
  lastSecs?: number;
  reasons?: string[];
}) {
  const clock = new ManualClock(nowSecs);
  const timers: { ms: number; work: () => void }[] = [];
  const runs: number[] = [];
  let lastMs = lastSecs === undefined ? undefined : lastSecs * 1000;
  const schedule = scheduleScores({
    clock,
    setTimer(ms, work) {
      timers.push({ ms, work });
      return () => undefined;
    },
    hourUtc: 4,
    lastRunMs: () => lastMs,
    async run() {
      runs.push(clock.nowMs());
      const reason = reasons.shift();
      if (reason === undefined) lastMs = clock.nowMs();
      return reason;
    },
  });
  return { schedule, timers, runs };
}

test("computes at once when the scores of the day are missing, then at the hour of the next day", async () => {
  const { schedule, timers, runs } = start({ nowSecs: FOUR + 60, lastSecs: FOUR - 1 });
  await schedule.stop();
  expect(runs.length).toBe(1);
  const next = start({ nowSecs: FOUR + 60, lastSecs: FOUR });
  expect([next.runs.length, next.timers[0]?.ms]).toEqual([0, 24 * HOUR_MS - 60_000]);
  expect(timers).toEqual([]);
});

test("before the hour, the scores of the day before count", () => {
  const { runs, timers } = start({ nowSecs: FOUR - 3600, lastSecs: FOUR - DAY_SECS + 5 });
  expect([runs.length, timers[0]?.ms]).toEqual([0, HOUR_MS]);
});

test("a run that was made while the clock was years ahead keeps none from being made now", async () => {
  const { schedule, runs, timers } = start({ nowSecs: FOUR + 60, lastSecs: FOUR + 900 * DAY_SECS });
  await schedule.stop();
  expect([runs, timers]).toEqual([[(FOUR + 60) * 1000], []]);
  // A clock that was set back by an hour is not a reason.
  expect(start({ nowSecs: FOUR + 60, lastSecs: FOUR + 3660 }).runs).toEqual([]);
});

test("repeats a failed run after an hour, and says why it failed", async () => {
  const { schedule, timers, runs } = start({ nowSecs: FOUR, reasons: ["no seeds"] });
  expect(schedule.isRunning()).toBeTrue();
  while (timers.length === 0) await Promise.resolve();
  expect([schedule.isRunning(), schedule.lastFault(), timers[0]?.ms]).toEqual([false, "no seeds", HOUR_MS]);
  timers[0]?.work();
  while (timers.length === 1) await Promise.resolve();
  expect([runs.length, schedule.lastFault(), timers[1]?.ms]).toEqual([2, undefined, 24 * HOUR_MS]);
});
