import { expect, test } from "bun:test";
import fc from "fast-check";
import { MinHeap } from "../../src/lib/min-heap.ts";

test("whatever goes in and out, what comes out has the smallest key of all that is in", () => {
  const step = fc.option(fc.integer({ min: -50, max: 50 }), { nil: "pop" as const });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const heap = new MinHeap<string>();
      const model: number[] = [];
      for (const key of steps) {
        if (key === "pop") {
          model.sort((a, b) => a - b);
          const smallest = model.shift();
          expect(heap.peek()?.key).toBe(smallest as number);
          const popped = heap.pop();
          expect(popped).toEqual(
            smallest === undefined ? undefined : { key: smallest, value: `${smallest}` },
          );
        } else {
          heap.push(key, `${key}`);
          model.push(key);
        }
        expect(heap.size).toBe(model.length);
      }
    }),
  );
});
