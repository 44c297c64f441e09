import { expect, test } from "bun:test";
import { createWorkBudget } from "../../../src/ingest/trie/work-budget.ts";

function startBudget(share?: number) {
  let nowMs = 1_000_000;
  const budget = createWorkBudget(() => nowMs, share);
  const wait = (ms: number) => {
    nowMs += ms;
    return budget.hasRoom();
  };
  const work = (ms: number) =>
    budget.spend(() => {
      nowMs += ms;
      return ms;
    });
  return { budget, wait, work };
}

test("half a core begins with a quarter of a second, which it saves up again and not more", () => {
  const { wait, work } = startBudget(0.5);
  // Half of the time that work takes is earned meanwhile.
  expect([wait(0), work(500), wait(0), wait(1)]).toEqual([true, 500, false, true]);
  expect([wait(1_000_000), work(498), wait(0), work(2), wait(0)]).toEqual([true, 498, true, 2, false]);
});

test("a smaller share saves up that of five seconds", () => {
  // 78 ms.
  const share = 1 / 64;
  for (const [ms, hasRoom] of [
    [79, true],
    [80, false],
  ] as const) {
    const { wait, work } = startBudget(share);
    wait(1_000_000);
    work(ms);
    expect(wait(0)).toBe(hasRoom);
  }
});

test("the default is 5 % of a core", () => {
  const { wait, work } = startBudget();
  work(350);
  // 250 + 17.5 - 350 ms.
  expect([wait(0), wait(1640), wait(20)]).toEqual([false, false, true]);
});

test("work that fails is counted, too", () => {
  const { budget, wait, work } = startBudget();
  expect(() =>
    budget.spend(() => {
      work(10_000);
      throw new Error("no root");
    }),
  ).toThrow("no root");
  expect(wait(0)).toBe(false);
});
