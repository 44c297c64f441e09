import { expect, test } from "bun:test";
import { valueWithin } from "../../src/lib/promises.ts";

test("returns the value of a promise that resolves in time", async () => {
  expect(await valueWithin(Promise.resolve(5), 1_000)).toBe(5);
});

test.each([
  ["rejects", () => Promise.reject(new Error("away"))],
  ["does not settle in time", () => new Promise<number>(() => undefined)],
])("returns undefined for one that %s", async (_, start) => {
  expect(await valueWithin<unknown>(start(), 1)).toBeUndefined();
});
