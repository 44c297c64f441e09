import { describe, expect, test } from "bun:test";
import { utimesSync } from "node:fs";
import fc from "fast-check";
import { NodeSignals } from "../../../src/cluster/node-signals.ts";
import { createExpiryClock } from "../../../src/cluster/shared-clock.ts";
import {
  clockMarkOf,
  continueClock,
  createSteadyClock,
  markClock,
  saveClock,
  stateSecs,
} from "../../../src/db/state/state-clock.ts";
import { createPrivateFile } from "../../../src/runtime/files.ts";
import { JumpingClock } from "../../support/jumping-clock.ts";
import { openStateFile } from "../../support/state-file.ts";

const START = 1_750_000_000;
const HOUR = 3_600;
const DAY = 86_400;

function startClock(savedSecs?: number) {
  const machine = new JumpingClock(START);
  const options = { clock: machine, monotonicMs: machine.monotonicMs };
  const savedMs = savedSecs === undefined ? undefined : savedSecs * 1000;
  return { machine, clock: createSteadyClock({ ...options, savedMs }) };
}

/** Advances the time and reads the clock each minute, like the writer. */
function run(machine: JumpingClock, clock: { nowMs(): number }, secs: number): void {
  for (let passed = 0; passed < secs; passed += 60) {
    machine.pass(Math.min(60, secs - passed));
    clock.nowMs();
  }
}

describe("the state's clock", () => {
  test("follows the machine's clock while that runs steadily, small corrections included", () => {
    const { machine, clock } = startClock();
    run(machine, clock, HOUR);
    machine.jump(2);
    run(machine, clock, HOUR);
    expect(stateSecs(clock)).toBe(machine.nowSecs());
    machine.jump(-5);
    run(machine, clock, HOUR);
    expect(stateSecs(clock)).toBeWithin(machine.nowSecs(), machine.nowSecs() + 6);
  });

  test("does not follow a jump forward that is undone within an hour, and deletes nothing because of it", () => {
    const { machine, clock } = startClock();
    machine.jump(2 * DAY);
    run(machine, clock, HOUR - 60);
    expect([stateSecs(clock), clock.sweepableSecs()]).toEqual([START + HOUR - 60, START + HOUR - 120]);
    machine.jump(-2 * DAY);
    run(machine, clock, 3 * HOUR);
    expect(stateSecs(clock)).toBe(machine.nowSecs());
  });

  test("planned work is due by the machine's clock, also after the node was stopped for an hour", () => {
    const { machine, clock } = startClock(START - HOUR);
    expect([stateSecs(clock), clock.dueMs() / 1000]).toEqual([START - HOUR, machine.nowSecs()]);
  });

  test("accepts a jump forward after an hour without another one", () => {
    const { machine, clock } = startClock();
    machine.jump(2 * DAY);
    run(machine, clock, HOUR + 60);
    expect(stateSecs(clock)).toBe(machine.nowSecs());
  });

  test("continues on its own while the machine's clock is behind, and nothing of the time between is deleted", () => {
    const { machine, clock } = startClock();
    machine.jump(-2 * DAY);
    run(machine, clock, 3 * HOUR);
    expect(stateSecs(clock)).toBe(START + 3 * HOUR);
    expect(clock.sweepableSecs()).toBe(machine.nowSecs() - 60);
  });

  test("does not go back over a restart, and accepts a longer downtime after an hour", () => {
    const later = startClock(START + 2 * DAY);
    expect(stateSecs(later.clock)).toBe(START + 2 * DAY);
    run(later.machine, later.clock, 100);
    expect(stateSecs(later.clock)).toBe(START + 2 * DAY + 100);
    const earlier = startClock(START - 3 * DAY);
    run(earlier.machine, earlier.clock, HOUR - 60);
    expect(stateSecs(earlier.clock)).toBe(START - 3 * DAY + HOUR - 60);
    run(earlier.machine, earlier.clock, 120);
    expect(stateSecs(earlier.clock)).toBe(earlier.machine.nowSecs());
  });

  test("never goes back, never stops, and never exceeds the limit of a steady hour", () => {
    const act = fc.oneof(
      fc.record({ kind: fc.constant("pass" as const), secs: fc.integer({ min: 1, max: 5_000 }) }),
      fc.record({ kind: fc.constant("jump" as const), secs: fc.integer({ min: -3 * DAY, max: 3 * DAY }) }),
    );
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
        const { machine, clock } = startClock();
        let before = clock.nowMs();
        let steadySecs = Number.POSITIVE_INFINITY;
        for (const { kind, secs } of acts) {
          const wallBefore = machine.nowMs();
          if (kind === "pass") machine.pass(secs);
          else machine.jump(secs);
          if (kind === "jump" && Math.abs(secs) > 60) steadySecs = 0;
          const now = clock.nowMs();
          if (kind === "pass") steadySecs += secs;
          expect(now).toBeGreaterThanOrEqual(before + (kind === "pass" ? secs * 1000 : 0));
          if (steadySecs < HOUR)
            expect(now).toBeLessThanOrEqual(before + (kind === "pass" ? secs * 1000 : 0));
          expect(clock.sweepableSecs()).toBeLessThanOrEqual(Math.floor(machine.nowMs() / 1000) - 60);
          expect(clock.sweepableSecs() * 1000).toBeLessThan(now);
          expect(wallBefore).toBeNumber();
          before = now;
        }
      }),
    );
  });
});

describe("after kill -9", () => {
  test("the clock continues where it was, though it is saved once a minute: what had expired stays so on a machine that is set back", () => {
    using file = openStateFile();
    const machine = new JumpingClock(START);
    const { monotonicMs } = machine;
    const mark = clockMarkOf(file.db.file);
    createPrivateFile(mark);
    utimesSync(mark, START, START);
    saveClock(file.db, START);
    const before = continueClock(file.db, { clock: machine, monotonicMs });
    machine.pass(55);
    markClock(mark, before);
    machine.jump(-50);
    const after = continueClock(file.db, { clock: machine, monotonicMs });
    expect(stateSecs(after)).toBe(START + 55);
    // What HTTP threads expire secrets, keys and sessions by.
    const signals = new NodeSignals();
    signals.setStateTime(after.nowMs());
    expect(createExpiryClock(signals, machine).nowMs()).toBeGreaterThanOrEqual((START + 55) * 1000 - 1);
  });

  test.each([
    ["without a file of the time", undefined, START],
    ["where that is older than the saved time", -DAY, START],
    ["where that was set by hand", DAY, START + 70],
  ])("%s, the clock continues at the saved time, or as far beyond as that may lag", (_, marked, expected) => {
    using file = openStateFile();
    const machine = new JumpingClock(START + 2 * DAY);
    saveClock(file.db, START);
    const mark = clockMarkOf(file.db.file);
    if (marked !== undefined) {
      createPrivateFile(mark);
      utimesSync(mark, START + marked, START + marked);
    }
    const clock = continueClock(file.db, { clock: machine, monotonicMs: machine.monotonicMs });
    expect(stateSecs(clock)).toBe(expected);
  });

  test("a time that cannot be saved is not a fault", () => {
    markClock("/nowhere/at/all", createSteadyClock({ clock: new JumpingClock(START) }));
  });
});
