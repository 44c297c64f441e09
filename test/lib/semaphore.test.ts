import { expect, test } from "bun:test";
import { Semaphore } from "../../src/lib/semaphore.ts";

test("so many run at a time, the rest in the order in which they came, and a failure frees its slot", async () => {
  const semaphore = new Semaphore(2);
  const order: number[] = [];
  let running = 0;
  let most = 0;
  const work = async (n: number) => {
    order.push(n);
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    if (n % 3 === 0) throw new Error(`failure of ${n}`);
    return n;
  };
  const outcomes = await Promise.allSettled(
    Array.from({ length: 10 }, (_, n) => semaphore.run(() => work(n))),
  );
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(most).toBe(2);
  expect(outcomes.map(({ status }) => status === "rejected")).toEqual(order.map((n) => n % 3 === 0));
  expect(await semaphore.run(() => work(1))).toBe(1);
});
