import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { StateUnavailable } from "../../src/db/state/unavailable.ts";
import { createSendCallers, ResultList, type SendCallers } from "../../src/push/fan-out/send-callers.ts";
import type { CampaignWork } from "../../src/push/store/campaigns/campaign-store.ts";

const run = (campaignId: string, runs = 1) => ({ campaignId, runs }) as CampaignWork;

let callers: SendCallers;
let nowMs = 0;
/** What the waits have resolved with, by campaign. */
let ends: Map<string, unknown>;

beforeEach(() => {
  jest.useFakeTimers();
  nowMs = 0;
  ends = new Map();
});
afterEach(() => {
  callers.stop();
  jest.useRealTimers();
});

/** Callers of a node on which `here` run; `ended` is the response of the store about the campaigns that it is asked about. */
function start(
  ended: (asked: readonly string[]) => readonly string[] | Promise<string[]>,
  { here = [], isPaused = () => false }: { here?: readonly string[]; isPaused?: () => boolean } = {},
): void {
  callers = createSendCallers({
    campaigns: { ended: async (asked) => [...(await ended(asked))] },
    isRunning: (campaignId) => here.includes(campaignId),
    isPaused,
    monotonicMs: () => nowMs,
    onFault: () => {},
  });
}

function wait(...campaignIds: readonly string[]): void {
  for (const id of campaignIds) void callers.wait(id).then((outcome) => ends.set(id, outcome));
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
}

/** Lets the callers ask the store once, or not at all if they do not poll. */
async function poll(atMs = nowMs): Promise<void> {
  nowMs = atMs;
  jest.advanceTimersByTime(500);
  await settled();
}

test("a wait lasts until the campaign ends here or the store has its end; the others wait longer", async () => {
  const asked: (readonly string[])[] = [];
  start((ids) => {
    asked.push(ids);
    return ["c"];
  });
  wait("a", "b", "c");
  callers.end("a", { results: [] });
  await poll();
  expect(Object.fromEntries(ends)).toEqual({ a: { results: [] }, c: { results: undefined } });
  await poll();
  expect(asked).toEqual([["b", "c"], ["b"]]);
});

test("every caller of a campaign gets its end", async () => {
  start(() => []);
  const waits = [callers.wait("a"), callers.wait("a")];
  callers.end("a", { results: [] });
  expect(await Promise.all(waits)).toEqual([{ results: [] }, { results: [] }]);
});

test("the store is asked only while callers wait", async () => {
  let polls = 0;
  start((ids) => {
    polls += 1;
    return ids;
  });
  await poll();
  expect(polls).toBe(0);
  wait("a");
  await poll();
  await poll();
  expect([polls, ends.size]).toEqual([1, 1]);
  wait("b");
  await poll();
  expect([polls, ends.size]).toEqual([2, 2]);
  wait("c");
  callers.stop();
  await poll();
  expect(polls).toBe(2);
});

test("a campaign that runs here ends when its run says so, whatever the store says", async () => {
  start((ids) => ids, { here: ["here"] });
  wait("here");
  await poll();
  expect(ends.size).toBe(0);
  callers.end("here", { results: [] });
  await settled();
  expect(ends.get("here")).toEqual({ results: [] });
});

test.each([
  [1_000, [500, 500]],
  [1_001, [500, 500, 1]],
])("asks about %i campaigns in turns of %j, about each once", async (count, turns) => {
  const asked: string[][] = [];
  start((ids) => {
    asked.push([...ids]);
    return ids;
  });
  const ids = Array.from({ length: count }, (_, at) => `${at}`);
  wait(...ids);
  for (let n = 0; n < 20; n += 1) await settled();
  await poll();
  for (let n = 0; n < 20; n += 1) await settled();
  expect(asked.map(({ length }) => length)).toEqual(turns);
  expect(asked.flat()).toEqual(ids);
  expect(ends.size).toBe(count);
});

test("a response that takes longer than a poll is awaited, and not asked for twice", async () => {
  const response = Promise.withResolvers<string[]>();
  let polls = 0;
  start(() => {
    polls += 1;
    return response.promise;
  });
  wait("a");
  await poll();
  await poll();
  expect(polls).toBe(1);
  response.resolve([]);
  await settled();
  await poll();
  expect(polls).toBe(2);
});

test("a paused node ends every wait", async () => {
  start(() => [], { isPaused: () => true });
  wait("a", "b");
  await poll();
  expect([...ends]).toEqual([
    ["a", undefined],
    ["b", undefined],
  ]);
});

test("a wait ends when the state has not responded for 10 s; a response or another fault does not count", async () => {
  const away = new StateUnavailable("away");
  let fault: Error | undefined;
  start(() => {
    if (fault) throw fault;
    return [];
  });
  wait("a");
  for (const [atMs, next] of [
    [0, away],
    [9_999, away],
    [10_000, undefined],
    [10_001, away],
    [20_000, away],
    [20_001, new Error("a bug")],
  ] as const) {
    fault = next;
    await poll(atMs);
    expect([atMs, ends.size]).toEqual([atMs, 0]);
  }
  fault = away;
  await poll(20_001);
  expect([...ends]).toEqual([["a", undefined]]);
  // The time of the next caller starts with its own first poll.
  wait("b");
  await poll(30_000);
  expect(ends.size).toBe(1);
});

test("a wait ends with the fifth fault of the node, however often the state was away", async () => {
  start(() => []);
  wait("a");
  for (let n = 0; n < 20; n += 1) callers.interrupted(run("a"), undefined, "state");
  for (let n = 0; n < 4; n += 1) callers.interrupted(run("a"), undefined, "fault");
  await settled();
  expect(ends.size).toBe(0);
  callers.interrupted(run("a"), undefined, "fault");
  await settled();
  expect([...ends]).toEqual([["a", undefined]]);
});

test("a run continues the results of the run before it, if both are of this node and a caller waits", () => {
  start(() => []);
  const results = new ResultList();
  callers.interrupted(run("a", 1), results, "state");
  expect(callers.resultsBefore(run("a", 2))).toBeUndefined();
  wait("a");
  callers.interrupted(run("a", 3), results, "state");
  expect(callers.resultsBefore(run("a", 4))).toBe(results);
  expect(callers.resultsBefore(run("a", 5))).toBeUndefined();
  expect(callers.resultsBefore(run("b", 4))).toBeUndefined();
});
