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

test("a thread that is idle, or serves one client, runs each task when it arrives", async () => {
  const { state, run } = start();
  for (let n = 0; n < 1_000; n += 1) {
    if (n % 50 === 0) await setImmediate();
    expect(run("a", 0.02)).toBe("a");
  }
  expect(state.looksUp).toBeLessThan(100);
  for (let n = 0; n < 100; n += 1) {
    await setImmediate();
    state.nowMs += 1;
    expect(run(n % 2 ? "a" : "b")).toBe(n % 2 ? "a" : "b");
  }
});

test("a client that arrives at a busy thread waits for one of a neighbour's hundred tasks", async () => {
  const busy = start();
  await makeBusy(busy);
  busy.state.ran.length = 0;
  const hostile = Array.from({ length: 100 }, () => busy.run("hostile", 10));
  await setImmediate();
  const own = [busy.run("own"), busy.run("own")];
  await Promise.all(own);
  // One ran before they arrived, one may run while its neighbour's time is not above theirs.
  expect(busy.state.ran.filter((client) => client === "hostile").length).toBeLessThanOrEqual(2);
  await Promise.all(hostile);
  expect(busy.state.ran).toHaveLength(102);
});

test("follow-up work in the same event-loop turn counts: a client waits for two such tasks of a neighbour", async () => {
  const state = { nowMs: 1_000, ran: [] as string[] };
  const order = new FairOrder<Task, string>({
    nowMs: () => state.nowMs,
    async run({ client, costMs }) {
      await undefined;
      state.nowMs += costMs;
      state.ran.push(client);
      return client;
    },
    clientOf: ({ client }) => client,
    refuse: () => "refused",
  });
  // As a server calls them: the work of a request is done before the next one that has arrived.
  const call = async (client: string) => {
    const result = order.run({ client, costMs: 10 });
    for (let n = 0; n < 5; n += 1) await undefined;
    return { result };
  };
  const mixed = [await call("other"), await call("hostile"), await call("other")];
  for (const { result } of mixed) await result;
  state.ran.length = 0;
  const hostile: (string | Promise<string>)[] = [];
  for (let n = 0; n < 40; n += 1) hostile.push((await call("hostile")).result);
  expect(await (await call("own")).result).toBe("own");
  expect(state.ran.indexOf("own")).toBeLessThanOrEqual(2);
  await Promise.all(hostile);
  expect(state.ran).toHaveLength(41);
});

test("time that a task spends after its promise is charged to its client only: three waiting clients get equal time", async () => {
  const costsMs = { slow: 10, quick: 2, direct: 5 };
  type Name = keyof typeof costsMs;
  const state = { nowMs: 1_000, ran: [] as Name[] };
  const work = (client: Name) => {
    state.nowMs += costsMs[client];
    state.ran.push(client);
    return client;
  };
  const order = new FairOrder<Name, Name>({
    nowMs: () => state.nowMs,
    run: (client) => (client === "direct" ? work(client) : Promise.resolve(client).then(work)),
    clientOf: (client) => client,
    refuse: (client) => client,
  });
  const call = async (client: Name) => {
    const result = order.run(client);
    for (let n = 0; n < 5; n += 1) await undefined;
    return { result };
  };
  const results: (Name | Promise<Name>)[] = [];
  for (const client of ["slow", "quick", "slow"] as const) results.push((await call(client)).result);
  await Promise.all(results);
  state.ran.length = 0;
  for (let n = 0; n < 300; n += 1)
    for (const client of ["slow", "quick", "direct"] as const)
      if (n * costsMs[client] < 600) results.push((await call(client)).result);
  await Promise.all(results);
  const used = { slow: 0, quick: 0, direct: 0 };
  for (const client of state.ran) {
    used[client] += costsMs[client];
    const times = Object.values(used);
    expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(40);
  }
});

test("tasks of one client in one turn of the event loop take 4 ms and the rest of the one that runs, then the loop reads the sockets", async () => {
  const { state, run } = start();
  const results = Array.from({ length: 64 }, () => run("a", 1.5));
  expect(state.ran.length).toBe(3);
  await setImmediate();
  await Promise.all(results);
  expect(state.ran.length).toBe(64);
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
  const roomless = run("roomless");
  const own = run("own");
  expect(held).toEqual([...Array.from({ length: 1_024 }, () => "hostile"), "roomless", "own"]);
  expect(await own).toBe("own");
  expect(await roomless).toBe("refused: total");
  expect(await Promise.all(hostile)).toEqual([
    ...Array.from({ length: 1_024 }, () => "hostile"),
    ...Array.from({ length: 76 }, () => "refused: client"),
  ]);
});

test("refusals use the turns of their own client, ahead of its waiting tasks; no other client waits for them", async () => {
  const state = { nowMs: 1_000, ended: [] as string[] };
  const end = (result: string, costMs: number) => {
    state.nowMs += costMs;
    state.ended.push(result);
    return result;
  };
  const order = new FairOrder<Task, string>({
    nowMs: () => state.nowMs,
    run: ({ client, costMs }) => end(client, costMs),
    clientOf: ({ client }) => client,
    hold: (_, client) => (client === "roomless" ? "client" : undefined),
    refuse: ({ client }) => end(`${client} refused`, 0.1),
  });
  const run = (client: string) => order.run({ client, costMs: 0.3 });
  await makeBusy({ run });
  state.ended.length = 0;
  const refused = Array.from({ length: 500 }, () => run("roomless"));
  expect(state.ended).toEqual([]);
  const own = Array.from({ length: 10 }, () => run("own"));
  await Promise.all(own);
  // As much time for refusals as for its tasks.
  expect(state.ended.filter((result) => result === "roomless refused").length).toBeLessThanOrEqual(33);
  await Promise.all(refused);
  expect(state.ended).toHaveLength(510);
});

test("an endless series of cheap tasks does not run in one turn of the event loop", async () => {
  const { state, run } = start();
  let inTurn = 0;
  while (run("a", 0.02) === "a") inTurn += 1;
  // 2 ms until the thread counts as busy, and 4 ms of the turn.
  expect(inTurn).toBeLessThanOrEqual(310);
  await setImmediate();
  expect(state.ran).toHaveLength(inTurn + 1);
  expect(run("a", 0.02)).toBe("a");
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

test("a waiting task that throws rejects its own result, and the next one runs", async () => {
  const state = { nowMs: 1_000 };
  const order = new FairOrder<Task, string>({
    nowMs: () => state.nowMs,
    run({ client, costMs }) {
      state.nowMs += costMs;
      if (client === "failing") throw new Error("failed");
      return client;
    },
    clientOf: ({ client }) => client,
    refuse: () => "refused",
  });
  const run = (client: string) => order.run({ client, costMs: 0.3 });
  await makeBusy({ run });
  const [failing, own] = [run("failing"), run("own")];
  await expect(failing).rejects.toThrow("failed");
  expect(await own).toBe("own");
});

test("at most 4,096 tasks wait in total, however many clients there are", async () => {
  const { run } = start();
  await makeBusy({ run });
  const waiting = Array.from({ length: 4_096 }, (_, n) => run(`client ${n % 5}`, 0.01));
  const refused = [run("client 1")];
  // Of 64 others, sixteen of each wait nevertheless.
  const few = Array.from({ length: 64 }, (_, n) => run(`few ${n}`, 0.01));
  waiting.push(...few, ...few.flatMap((_, n) => Array.from({ length: 15 }, () => run(`few ${n}`, 0.01))));
  refused.push(run("few 0"), run("another"));
  expect(await Promise.all(refused)).toEqual(["refused", "refused", "refused"]);
  expect(new Set(await Promise.all(waiting)).has("refused")).toBe(false);
  expect(await run("another")).toBe("another");
});

test("over random backlogs each task runs once, in its client's order, and two waiting clients get equal time within one task", async () => {
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
