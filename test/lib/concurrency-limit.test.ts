import { expect, test } from "bun:test";
import { ConcurrencyLimit } from "../../src/lib/concurrency-limit.ts";

test("runs tasks up to its limit, queues up to its limit in order, and rejects the next one", async () => {
  const limit = new ConcurrencyLimit({ running: 2, waiting: 2 });
  const started: number[] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  const run = (n: number) =>
    limit.run(async () => {
      started.push(n);
      const end = Promise.withResolvers<void>();
      ends.push(end);
      await end.promise;
      return n;
    });
  const results = [0, 1, 2, 3, 4].map(run);
  expect(results[4]).toBeUndefined();
  await Promise.resolve();
  expect(started).toEqual([0, 1]);
  ends[1]?.reject(new Error("a failed task frees its slot too"));
  await expect(results[1]).rejects.toThrow("failed task");
  await Bun.sleep(0);
  expect(started).toEqual([0, 1, 2]);
  // The queue has room again, and a new task does not overtake the waiting one.
  const late = run(5);
  for (let n = 0; n < 6; n++) {
    for (const end of ends) end.resolve();
    await Bun.sleep(0);
  }
  expect(await Promise.all([results[0], results[2], results[3], late])).toEqual([0, 2, 3, 5]);
  expect(started).toEqual([0, 1, 2, 3, 5]);
});
