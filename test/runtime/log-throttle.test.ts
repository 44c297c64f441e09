import { expect, test } from "bun:test";
import { createLogThrottle } from "../../src/runtime/log/log-throttle.ts";
import { ManualClock } from "../support/clock.ts";

test("one line is logged in each interval, says how many did not, and a clock that goes back silences nothing", () => {
  const clock = new ManualClock(1_000_000);
  const throttled = createLogThrottle({ clock, intervalMs: 60_000 });
  const written: (number | undefined)[] = [];
  const log = () => throttled(({ suppressed }) => written.push(suppressed));
  for (let n = 0; n < 60; n++) log();
  clock.advanceSecs(60);
  log();
  expect(written).toEqual([undefined, 59]);
  clock.advanceSecs(-86_400);
  log();
  expect(written).toEqual([undefined, 59, undefined]);
});
