import { expect, test } from "bun:test";
import { createCallGroups } from "../../src/push/call-groups.ts";

/** Grouped calls that the test finishes. The result of an item is its double. */
function startGroups() {
  const calls: { readonly call: string; readonly end: PromiseWithResolvers<void> }[] = [];
  const add = createCallGroups<number, number>({
    maxItems: 10,
    async call(key, items) {
      const end = Promise.withResolvers<void>();
      calls.push({ call: `${key}: ${items.join(" ")}`, end });
      await end.promise;
      return items.map((item) => 2 * item);
    },
  });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { add, calls, settled, called: () => calls.map(({ call }) => call) };
}

test("calls at once, and items that arrive during a call for their key share the next one", async () => {
  const { add, calls, settled, called } = startGroups();
  const results: number[] = [];
  const addOne = (key: string, item: number) => void add(key, item).then((result) => results.push(result));
  addOne("a", 1);
  await settled();
  for (const item of [2, 3]) addOne("a", item);
  addOne("b", 4);
  await settled();
  expect(called()).toEqual(["a: 1", "b: 4"]);
  calls[0]?.end.resolve();
  await settled();
  expect([called().at(-1), results]).toEqual(["a: 2 3", [2]]);
  addOne("a", 5);
  calls[2]?.end.resolve();
  await settled();
  expect([called().at(-1), results]).toEqual(["a: 5", [2, 4, 6]]);
});

test("a failed call fails its items and not the next call", async () => {
  const { add, calls, settled } = startGroups();
  const outcomes = Promise.allSettled([1, 2].map((item) => add("a", item)));
  await settled();
  const next = add("a", 3);
  calls[0]?.end.reject(new Error("no disk"));
  expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await settled();
  calls[1]?.end.resolve();
  expect(await next).toBe(6);
});

test("limits the items of one call", async () => {
  const { add, calls, settled, called } = startGroups();
  const all = Array.from({ length: 12 }, (_, at) => add("a", at));
  await settled();
  calls[0]?.end.resolve();
  await settled();
  calls[1]?.end.resolve();
  await Promise.all(all);
  expect(called()).toEqual(["a: 0 1 2 3 4 5 6 7 8 9", "a: 10 11"]);
});

test("more items than one call takes wait in a second group, which later items still join", async () => {
  const { add, calls, settled, called } = startGroups();
  const all = Array.from({ length: 13 }, (_, at) => add("a", at));
  await settled();
  all.push(add("a", 13));
  for (let at = 0; at < 2; at++) {
    calls[at]?.end.resolve();
    await settled();
  }
  expect(called()).toEqual(["a: 0 1 2 3 4 5 6 7 8 9", "a: 10 11 12 13"]);
  expect(await Promise.all(all)).toEqual(Array.from({ length: 14 }, (_, at) => 2 * at));
});
