import { expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { FairOrder } from "../../src/admission/fair-order.ts";

interface Task {
  readonly client: string;
  readonly costMs: number;
}

/** An order over a clock that only tasks move. */
function start() {
  const state = { nowMs: 1_000, ran: [] as string[], looksUp: 0 };
  const order = new FairOrder<Task, string>({
    nowMs: () => state.nowMs,
    run({ client, costMs }) {
      state.nowMs += costMs;
      state.ran.push(client);
      return client;
    },
    clientOf({ client }) {
      state.looksUp += 1;
      return client;
    },
    refuse: () => "refused",
  });
  return { state, run: (client: string, costMs = 1) => order.run({ client, costMs }) };
}

/** Works for two clients without a pause until tasks wait. */
async function makeBusy({ run }: Pick<ReturnType<typeof start>, "run">) {
  for (let n = 0; ; n += 1) {
    const result = run(n % 16 < 8 ? "a" : "b", 0.3);
    if (typeof result === "string") continue;
    await result;
    return;
  }
}

test("a thread that is not busy, or works for one client, runs each task when it comes", () => {
  const { state, run } = start();
  for (let n = 0; n < 1_000; n += 1) expect(run("a", 0.02)).toBe("a");
  expect(state.looksUp).toBeLessThan(100);
  for (let n = 0; n < 100; n += 1) {
    state.nowMs += 1;
    expect(run(n % 2 ? "a" : "b")).toBe(n % 2 ? "a" : "b");
  }
});

test("a client that comes to a busy thread waits for one task of a neighbour with a hundred", async () => {
  const busy = start();
  await makeBusy(busy);
  busy.state.ran.length = 0;
  const hostile = Array.from({ length: 100 }, () => busy.run("hostile", 10));
  await setImmediate();
  const own = [busy.run("own"), busy.run("own")];
  await Promise.all(own);
  // One ran before they came, one may run while its neighbour's time is not above theirs.
  expect(busy.state.ran.filter((client) => client === "hostile").length).toBeLessThanOrEqual(2);
  await Promise.all(hostile);
  expect(busy.state.ran).toHaveLength(102);
});

test("a client waits with 1,024 tasks at most, and with none that finds no room; others still wait", async () => {
  const held: string[] = [];
  const state = { nowMs: 1_000 };
  const order = new FairOrder<Task, string>({
    nowMs: () => state.nowMs,
    run({ client, costMs }) {
      state.nowMs += costMs;
      return client;
    },
    clientOf: ({ client }) => client,
    hold(_, client) {
      held.push(client);
      return client === "roomless" ? "total" : undefined;
    },
    refuse: (_, shortage) => `refused: ${shortage}`,
  });
  const run = (client: string) => order.run({ client, costMs: 0.3 });
  await makeBusy({ run });
  held.length = 0;
  const hostile = Array.from({ length: 1_100 }, () => run("hostile"));
  expect(hostile.slice(1_024)).toEqual(Array.from({ length: 76 }, () => "refused: client"));
  expect(run("roomless")).toBe("refused: total");
  const own = run("own");
  expect(own).toBeInstanceOf(Promise);
  expect(held).toEqual([...Array.from({ length: 1_024 }, () => "hostile"), "roomless", "own"]);
  expect(await own).toBe("own");
  expect(new Set(await Promise.all(hostile.slice(0, 1_024)))).toEqual(new Set(["hostile"]));
});

test("a task that throws rejects its own result, and the next one runs", async () => {
  const { run } = start();
  await makeBusy({ run });
  const failing = new FairOrder<boolean, boolean>({
    nowMs: () => performance.now(),
    run(fails) {
      if (fails) throw new Error("failed");
      return true;
    },
    clientOf: String,
    refuse: () => false,
  });
  expect(() => failing.run(true)).toThrow("failed");
  expect(failing.run(false)).toBe(true);
});

test("over random backlogs each task runs once, a client's in its order, and two that wait get equal time within one task", async () => {
  const tasks = fc.array(
    fc.record({ client: fc.constantFrom("x", "y", "z"), costMs: fc.integer({ min: 1, max: 20 }) }),
    {
      maxLength: 60,
    },
  );
  await fc.assert(
    fc.asyncProperty(tasks, async (steps) => {
      const busy = start();
      await makeBusy(busy);
      busy.state.ran.length = 0;
      const left = new Map<string, number[]>();
      const results = steps.map(({ client, costMs }) => {
        left.set(client, [...(left.get(client) ?? []), costMs]);
        return busy.run(client, costMs);
      });
      expect(await Promise.all(results)).toEqual(steps.map(({ client }) => client));
      const used = new Map([...left.keys()].map((client) => [client, 0]));
      for (const client of busy.state.ran) {
        const waiting = [...left]
          .filter(([, costs]) => costs.length > 0)
          .map(([name]) => used.get(name) ?? 0);
        expect(used.get(client)).toBe(Math.min(...waiting));
        used.set(client, (used.get(client) ?? 0) + (left.get(client)?.shift() ?? 0));
      }
    }),
    { numRuns: 50 },
  );
});
