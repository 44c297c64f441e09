import { expect, test } from "bun:test";
import { failure } from "../../src/push/fan-out/client-response.ts";
import { OTHER_HOSTS, SendCounters } from "../../src/push/fan-out/send-stats.ts";

const success = { kind: "success", reason: "", isRetryable: false } as const;

test("counts tokens by host and outcome, and nothing for an outcome that no token has", () => {
  const counters = new SendCounters();
  counters.countTokens("a", [success, failure("dns"), success]);
  counters.countTokens("a", [success]);
  counters.countTokens("b", [failure("dns")]);
  counters.countNotAttempted("b", 0);
  counters.countNotAttempted("a", 5);
  counters.countNotAttempted("a", 2);
  expect(counters.stats().tokens).toEqual([
    { host: "a", outcome: "success", count: 3 },
    { host: "a", outcome: "failure", count: 1 },
    { host: "a", outcome: "not_attempted", count: 7 },
    { host: "b", outcome: "failure", count: 1 },
  ]);
});

test("counts a hundred hosts by name, and all others together", () => {
  const counters = new SendCounters();
  for (let round = 0; round < 2; round++)
    for (let host = 0; host < 103; host++) counters.countCall(`h${host}`, "response", 1_000);
  const { calls, callDurations } = counters.stats();
  expect(calls).toEqual([
    ...Array.from({ length: 100 }, (_, at) => ({ host: `h${at}`, outcome: "response", count: 2 })),
    { host: OTHER_HOSTS, outcome: "response", count: 6 },
  ]);
  expect(callDurations.secondsSum).toBe(206);
});
