import { expect, test } from "bun:test";
import type { TopicRanking } from "../../../src/db/index/counts/rankings.ts";
import { startTopicRefresh } from "../../../src/ingest/topics/topic-refresh.ts";
import { ManualClock } from "../../support/clock.ts";
import { DEFAULT_NOW_SECS } from "../../support/messages.ts";
import { ManualTimers } from "../../support/timers.ts";

const RANKING: TopicRanking = { snapshot: 1, topics: [] };

/** A refresh whose counts and stores end when the test says so. */
function startRefresh() {
  const clock = new ManualClock(DEFAULT_NOW_SECS);
  const timers = new ManualTimers();
  const asked: number[] = [];
  const stored: TopicRanking[] = [];
  const faults: string[] = [];
  let counted = Promise.withResolvers<TopicRanking | undefined>();
  const refresh = startTopicRefresh({
    finder: {
      topicsAt(nowMs) {
        asked.push(nowMs);
        return counted.promise;
      },
    },
    clock,
    setTimer: timers.after,
    store: async (ranking) => void stored.push(ranking),
    onFault: (cause) => faults.push(`${cause}`),
  });
  /** Ends the count that runs, and resolves when the next one is waited for. */
  async function ends(end: TopicRanking | Error | undefined): Promise<void> {
    const next = timers.next();
    const { resolve, reject } = counted;
    counted = Promise.withResolvers();
    if (end instanceof Error) reject(end);
    else resolve(end);
    await next;
  }
  return { refresh, clock, timers, asked, stored, faults, ends, end: () => counted };
}

test("topics are looked for at once and then each minute, never twice at once, and stored if there are new ones", async () => {
  const { refresh, clock, timers, asked, stored, faults, ends } = startRefresh();
  expect([asked.length, timers.pendingMs]).toEqual([1, undefined]);
  await ends(RANKING);
  expect([stored, timers.pendingMs]).toEqual([[RANKING], 60_000]);
  timers.fire(clock);
  expect(asked).toEqual([DEFAULT_NOW_SECS * 1000, (DEFAULT_NOW_SECS + 60) * 1000]);
  expect(timers.pendingMs).toBeUndefined();
  await ends(undefined);
  expect([stored.length, timers.pendingMs]).toEqual([1, 60_000]);
  await refresh.stop();
  expect([timers.pendingMs, faults]).toEqual([undefined, []]);
});

test("a fault is reported, and the next minute tries again", async () => {
  const { refresh, clock, timers, asked, stored, faults, ends } = startRefresh();
  await ends(new Error("no casts"));
  expect([faults, timers.pendingMs]).toEqual([["Error: no casts"], 60_000]);
  timers.fire(clock);
  await ends(RANKING);
  expect([asked.length, stored.length, faults.length]).toEqual([2, 1, 1]);
  await refresh.stop();
});

test.each<[string, TopicRanking | Error]>([
  ["its topics", RANKING],
  ["its fault", new Error("the index is closed")],
])("a stop waits for the count that runs, and nothing comes of %s", async (_, end) => {
  const { refresh, timers, stored, faults, end: current } = startRefresh();
  let isStopped = false;
  const stopped = refresh.stop().then(() => {
    isStopped = true;
  });
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  expect(isStopped).toBe(false);
  if (end instanceof Error) current().reject(end);
  else current().resolve(end);
  await stopped;
  expect([stored, faults, timers.pendingMs]).toEqual([[], [], undefined]);
});
