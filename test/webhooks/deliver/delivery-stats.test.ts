import { expect, test } from "bun:test";
import { DeliveryCounters } from "../../../src/webhooks/deliver/delivery-stats.ts";

const attempt = { atMs: 0, durationMs: 1_500, status: 204, error: null, responseText: "" };

test("each attempt counts once, by response class and outcome, and with its duration", () => {
  const counters = new DeliveryCounters();
  counters.countAttempt({ attempt, verdict: { kind: "delivered" } });
  counters.countAttempt({ attempt, verdict: { kind: "delivered" } });
  const { attempts, callDurations } = counters.stats();
  expect(attempts).toEqual([{ response: "http_2xx", outcome: "delivered", count: 2 }]);
  expect(callDurations.secondsSum).toBe(3);
  expect(callDurations.byDuration.at(-1)).toBe(2);
});
