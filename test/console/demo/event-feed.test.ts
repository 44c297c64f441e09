import { expect, test } from "bun:test";
import { EventFeed } from "../../../src/console/demo/event-feed.ts";
import { ManualClock } from "../../support/clock.ts";
import { ManualTimers } from "../../support/timers.ts";

const numbers = ({ events }: { events: readonly { event: number }[] }) => events.map(({ event }) => event);

test("a reader sees every event that is kept once, in pages", () => {
  const feed = new EventFeed<number>(50);
  for (let nth = 1; nth <= 60; nth++) feed.push(nth);
  const seen: number[] = [];
  let position = 0;
  for (;;) {
    const page = feed.after(position);
    if (page.events.length === 0) break;
    expect(page.events.length).toBeLessThanOrEqual(20);
    seen.push(...numbers(page));
    position = page.last;
  }
  expect(seen).toEqual(Array.from({ length: 50 }, (_, index) => index + 11));
});

test("an event wakes all readers that wait; without one they get an empty page after the time", async () => {
  const feed = new EventFeed<number>(5);
  const timers = new ManualTimers();
  const waiting = [feed.next(0, 1000, () => () => undefined), feed.next(0, 1000, () => () => undefined)];
  feed.push(7);
  expect((await Promise.all(waiting)).map(numbers)).toEqual([[7], [7]]);
  const late = feed.next(1, 1000, timers.after);
  timers.fire(new ManualClock(0));
  expect(await late).toEqual({ events: [], last: 1 });
});

test("a position of an earlier run begins at the oldest event", () => {
  const feed = new EventFeed<number>(5);
  feed.push(1);
  expect(numbers(feed.after(900))).toEqual([1]);
});
