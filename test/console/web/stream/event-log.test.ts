import { expect, test } from "bun:test";
import fc from "fast-check";
import { EventLog, MAX_ROWS } from "../../../../src/console/web/stream/event-log.ts";

const event = (at: number) => ({ cursor: String(at), kind: "cast.created", createdAt: at, data: null });

test("has the newest rows first, at most 300, each with a number of its own, in whatever groups they arrive", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 8 }), (groups) => {
      const log = new EventLog();
      let at = 0;
      for (const size of groups) {
        for (let i = 0; i < size; i++) log.add(event(at++), 1000);
        log.flush();
      }
      const shown = log.rows.map((row) => ("event" in row ? row.event.createdAt : -1));
      expect(shown).toEqual(Array.from({ length: Math.min(at, MAX_ROWS) }, (_, i) => at - 1 - i));
      expect(new Set(log.rows.map(({ id }) => id)).size).toBe(shown.length);
      expect(log.total).toBe(at);
    }),
  );
});

test("counts the events of the last minute", () => {
  const log = new EventLog();
  for (const at of [0, 30_000, 59_000]) log.add(event(at), at);
  expect(log.perMinute(60_000)).toEqual({ count: 3, isAtLeast: false });
  expect(log.perMinute(61_000)).toEqual({ count: 2, isAtLeast: false });
  expect(log.perMinute(200_000)).toEqual({ count: 0, isAtLeast: false });
});

test("says that there may have been more events in the last minute than those it began with, or after a gap", () => {
  const began = 100_000;
  const log = new EventLog({ maxRows: 3, beganMs: began });
  for (const at of [70_000, 80_000, 99_000]) log.add(event(at), at);
  log.add(event(101_000), 101_000);
  expect(log.perMinute(101_000)).toEqual({ count: 4, isAtLeast: true });
  // The oldest that it knows is a minute old: it knows all since.
  expect(log.perMinute(130_000)).toEqual({ count: 4, isAtLeast: false });
  const few = new EventLog({ maxRows: 3, beganMs: began });
  for (const at of [80_000, 99_000, 101_000]) few.add(event(at), at);
  expect(few.perMinute(101_000)).toEqual({ count: 3, isAtLeast: false });
  few.addGap(110_000);
  expect(few.perMinute(120_000).isAtLeast).toBe(true);
  expect(few.perMinute(170_000).isAtLeast).toBe(false);
});

test("has a row where events are missing, between those before and after", () => {
  const log = new EventLog();
  log.add(event(1), 0);
  log.addGap(5);
  log.add(event(2), 0);
  expect(log.flush()).toBe(3);
  expect(log.rows.map((row) => ("event" in row ? row.event.createdAt : "gap"))).toEqual([2, "gap", 1]);
  expect(log.flush()).toBe(0);
});
