import { describe, expect, test } from "bun:test";
import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import fc from "fast-check";
import { CallRate } from "../../../src/upstream/calls/call-rate.ts";

function fault(code: status, details = "", retryAfter?: string): ServiceError {
  const metadata = new Metadata();
  if (retryAfter !== undefined) metadata.set("retry-after", retryAfter);
  return Object.assign(new Error(details), { code, details, metadata });
}

/** Makes a call as soon as the rate allows one, until `untilMs`. Returns when each was made. */
function callAtOnce(rate: CallRate, clock: { ms: number }, untilMs: number): number[] {
  const made: number[] = [];
  while (clock.ms < untilMs) {
    clock.ms += rate.delayMs();
    if (clock.ms < untilMs) made.push(clock.ms);
  }
  return made;
}

function limited(perSec: number) {
  const clock = { ms: 5_000 };
  return { clock, rate: new CallRate(perSec, { nowMs: () => clock.ms }) };
}

describe("the rate of calls to one node", () => {
  test("never exceeds the limit by more than the burst of one second", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        fc.array(fc.integer({ min: 0, max: 3000 }), { maxLength: 50 }),
        (perSec, pauses) => {
          const { rate, clock } = limited(perSec);
          const startMs = clock.ms;
          const made = pauses.map((ms) => {
            clock.ms += ms;
            clock.ms += rate.delayMs();
            return clock.ms;
          });
          for (const [at, ms] of made.entries())
            expect(at + 1).toBeLessThanOrEqual(((ms - startMs) / 1000 + 1) * perSec + 1);
        },
      ),
    );
  });

  test("has no limit with 0", () => {
    const { rate } = limited(0);
    for (let call = 0; call < 100_000; call++) expect(rate.delayMs()).toBe(0);
  });

  const refusals: [string, ServiceError][] = [
    ["RESOURCE_EXHAUSTED", fault(status.RESOURCE_EXHAUSTED, "too many requests")],
    ["HTTP 429", fault(status.UNAVAILABLE, "Received HTTP status code 429")],
    ["UNAVAILABLE of the node", fault(status.UNAVAILABLE, "overloaded")],
  ];
  for (const [name, refusal] of refusals)
    test(`halves after ${name}, and recovers after a while without`, () => {
      const { rate, clock } = limited(20);
      callAtOnce(rate, clock, clock.ms + 5_000);
      rate.failed(refusal);
      expect(rate.perSec).toBe(10);
      const startMs = clock.ms;
      expect(callAtOnce(rate, clock, startMs + 5_000).length).toBeLessThanOrEqual(61);
      callAtOnce(rate, clock, startMs + 60_000);
      expect(rate.perSec).toBe(20);
    });

  test("refusals of calls that were in flight together halve it once, and it never ends", () => {
    const { rate, clock } = limited(20);
    callAtOnce(rate, clock, clock.ms + 5_000);
    for (let call = 0; call < 10; call++) rate.failed(fault(status.RESOURCE_EXHAUSTED));
    expect(rate.perSec).toBe(10);
    for (let second = 0; second < 100; second++) {
      clock.ms += 1000;
      rate.failed(fault(status.RESOURCE_EXHAUSTED));
    }
    expect(rate.perSec).toBeGreaterThanOrEqual(0.5);
  });

  test("a refusal of one of few calls leaves enough of them to follow blocks", () => {
    const { rate, clock } = limited(0);
    rate.delayMs();
    rate.failed(fault(status.UNAVAILABLE, "overloaded"));
    expect(rate.perSec).toBe(5);
    for (let second = 0; second < 60; second++) {
      clock.ms += 1000;
      expect([rate.delayMs(), rate.delayMs()]).toEqual([0, 0]);
    }
  });

  test("a node without a limit gets half of the calls that it refused", () => {
    const { rate, clock } = limited(0);
    for (let call = 0; call < 64; call++) rate.delayMs();
    rate.failed(fault(status.RESOURCE_EXHAUSTED));
    expect(rate.perSec).toBe(32);
    for (let pause = 0; pause < 20; pause++) {
      clock.ms += 10_000;
      rate.delayMs();
    }
    expect(rate.perSec).toBe(Number.POSITIVE_INFINITY);
  });

  test("Retry-After is waited for, at most five minutes", () => {
    for (const [text, ms] of [
      ["7", 7_000],
      ["999999999", 300_000],
      ["-1", 0],
      ["soon", 0],
    ] as const) {
      const { rate } = limited(20);
      rate.failed(fault(status.UNAVAILABLE, "Received HTTP status code 503", text));
      // Five calls a second remain.
      expect(Math.max(1000, rate.delayMs())).toBe(Math.max(1000, ms));
    }
  });

  test("a lost connection, a response that is too large here and a refused request are not signs of load", () => {
    const { rate } = limited(20);
    for (const other of [
      fault(status.UNAVAILABLE, "No connection established. Last error: connect ECONNREFUSED"),
      fault(status.RESOURCE_EXHAUSTED, "Received message larger than max (5 vs 4)"),
      fault(status.INVALID_ARGUMENT, "bad page token"),
      new Error("stopped"),
      undefined,
    ])
      rate.failed(other);
    expect(rate.perSec).toBe(20);
  });
});
