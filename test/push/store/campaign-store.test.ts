import { expect, test } from "bun:test";
import { runLimitsOf } from "../../../src/push/store/campaigns/campaign-store.ts";

test("only a node with slots for calls runs campaigns", () => {
  const runs = (slots: number) => runLimitsOf({ send_concurrency: slots }).maxRunning > 0;
  expect([0, 1, 100].map(runs)).toEqual([false, true, true]);
});
