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
  expect(log.perMinute(60_000)).toBe(3);
  expect(log.perMinute(61_000)).toBe(2);
  expect(log.perMinute(200_000)).toBe(0);
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
