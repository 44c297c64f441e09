import { expect, test } from "bun:test";
import { oncePer } from "../../src/lib/promises.ts";

test("calls within the time share one value; a failed one is made again", async () => {
  let nowMs = 0;
  let made = 0;
  const value = oncePer(
    1000,
    async () => {
      made += 1;
      if (made === 2) throw new Error("failed");
      return made;
    },
    () => nowMs,
  );
  expect(await Promise.all([value(), value()])).toEqual([1, 1]);
  nowMs = 999;
  expect(await value()).toBe(1);
  nowMs = 1000;
  await expect(value()).rejects.toThrow("failed");
  expect(await value()).toBe(3);
});
