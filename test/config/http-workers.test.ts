import { expect, test } from "bun:test";
import { defaultWorkers } from "../../src/config/http-workers.ts";

test("leaves one core to the other threads and never exceeds four workers", () => {
  expect([1, 2, 3, 4, 5, 6, 64].map(defaultWorkers)).toEqual([1, 1, 2, 3, 4, 4, 4]);
});
