import { expect, test } from "bun:test";
import fc from "fast-check";
import { FairTurns } from "../../src/admission/fair-turns.ts";

const limits = { running: 2, waiting: 4, perClient: { running: 2, waiting: 3 } };

/** Tasks that run until they are ended by name. */
function tasks(turns: FairTurns) {
  const started: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  return {
    started,
    run: (client: string, name: string) =>
      turns.run(client, async () => {
        started.push(name);
        const end = Promise.withResolvers<void>();
        ends.set(name, end);
        await end.promise;
        return name;
      }),
    async end(name: string, cause?: Error) {
      if (cause) ends.get(name)?.reject(cause);
      else ends.get(name)?.resolve();
      await Bun.sleep(0);
    },
  };
}

test("a client that asks later has the next turn before the rest of another client's queue", async () => {
  const { run, end, started } = tasks(new FairTurns(limits));
  const results = ["a1", "a2", "a3", "a4"].map((name) => run("a", name));
  results.push(run("b", "b1"));
  await end("a1");
  expect(started).toEqual(["a1", "a2", "b1"]);
  for (const name of ["a2", "b1", "a3", "a4"]) await end(name);
  expect(await Promise.all(results)).toEqual(["a1", "a2", "a3", "a4", "b1"]);
  expect(started).toEqual(["a1", "a2", "b1", "a3", "a4"]);
});

test("a client runs no more than its share while turns are free", async () => {
  const { run, end, started } = tasks(
    new FairTurns({ running: 4, waiting: 4, perClient: { running: 1, waiting: 1 } }),
  );
  const first = run("a", "a1");
  const second = run("a", "a2");
  expect(await run("a", "a3")).toBeUndefined();
  const other = run("b", "b1");
  expect(started).toEqual(["a1", "b1"]);
  await end("a1");
  expect(started).toEqual(["a1", "b1", "a2"]);
  await end("a2");
  await end("b1");
  expect(await Promise.all([first, second, other])).toEqual(["a1", "a2", "b1"]);
});

test("in a full queue a client with fewer tasks replaces the last task of the longest queue", async () => {
  const { run, end, started } = tasks(new FairTurns({ ...limits, waiting: 3 }));
  const running = [run("a", "a1"), run("a", "a2")];
  const waiting = ["a3", "a4", "a5"].map((name) => run("a", name));
  const newcomer = run("b", "b1");
  expect(await waiting[2]).toBeUndefined();
  expect(await run("a", "a6")).toBeUndefined();
  for (const name of ["a1", "a2", "b1", "a3", "a4"]) await end(name);
  expect(await Promise.all([...running, newcomer])).toEqual(["a1", "a2", "b1"]);
  expect(started).toEqual(["a1", "a2", "b1", "a3", "a4"]);
});

test("in a full queue no client takes a place that would leave the other with fewer", async () => {
  const { run, end } = tasks(new FairTurns({ ...limits, waiting: 3 }));
  const running = [run("a", "a1"), run("a", "a2")];
  const waiting = [run("a", "a3"), run("a", "a4"), run("b", "b1")];
  expect(await run("b", "b2")).toBeUndefined();
  for (const name of ["a1", "a2", "b1", "a3", "a4"]) await end(name);
  expect(await Promise.all([...running, ...waiting])).toEqual(["a1", "a2", "a3", "a4", "b1"]);
});

test("a client without waiting tasks takes no turn from one that waits", async () => {
  const { run, end, started } = tasks(
    new FairTurns({ running: 3, waiting: 4, perClient: { running: 2, waiting: 3 } }),
  );
  const results = [run("b", "b1"), run("a", "a1"), run("a", "a2"), run("a", "a3")];
  await end("a1");
  expect(started).toEqual(["b1", "a1", "a2", "a3"]);
  for (const name of ["b1", "a2", "a3"]) await end(name);
  expect(await Promise.all(results)).toEqual(["b1", "a1", "a2", "a3"]);
});

test("a failed task frees its turn, and a new one does not overtake a waiting one", async () => {
  const turns = new FairTurns({ running: 1, waiting: 2, perClient: { running: 1, waiting: 2 } });
  const { run, end, started } = tasks(turns);
  const failed = run("a", "a1");
  failed.catch(() => undefined);
  const waiting = run("b", "b1");
  await end("a1", new Error("failed"));
  const late = run("c", "c1");
  expect(started).toEqual(["a1", "b1"]);
  await end("b1");
  await end("c1");
  expect(await Promise.all([waiting, late])).toEqual(["b1", "c1"]);
  await expect(failed).rejects.toThrow("failed");
});

test("over random arrivals and ends no bound is exceeded, and no turn stays idle while one may run", async () => {
  const step = fc.record({ client: fc.integer({ min: 0, max: 4 }), ends: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const own = { running: 3, waiting: 5, perClient: { running: 2, waiting: 3 } };
      const turns = new FairTurns(own);
      const running: { client: number; end: () => void }[] = [];
      let refused = 0;
      let settled = 0;
      const settle = () => new Promise((resolve) => setImmediate(resolve));
      for (const { client, ends } of steps) {
        if (ends) running.shift()?.end();
        else
          void turns
            .run(
              `${client}`,
              () => new Promise<true>((resolve) => running.push({ client, end: () => resolve(true) })),
            )
            .then((ran) => {
              if (ran) settled += 1;
              else refused += 1;
            });
        await settle();
        expect(running.length).toBeLessThanOrEqual(own.running);
        for (const { client: each } of running)
          expect(running.filter((one) => one.client === each).length).toBeLessThanOrEqual(
            own.perClient.running,
          );
      }
      while (running.length > 0) {
        running.shift()?.end();
        await settle();
      }
      expect(settled + refused).toBe(steps.filter(({ ends }) => !ends).length);
    }),
    { numRuns: 50 },
  );
});
