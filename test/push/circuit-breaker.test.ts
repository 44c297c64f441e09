import { expect, test } from "bun:test";
import { CircuitBreaker, type HostStatus } from "../../src/push/fan-out/circuit-breaker.ts";

const settings = { failuresUntilDown: 3, firstProbeMs: 100, maxProbeMs: 400, giveUpAfterMs: 1_000 };

/** Makes a call that takes no time. */
function call(health: CircuitBreaker, hostStatus: HostStatus, nowMs: number, waitMs = 0): void {
  const isProbe = health.admission(nowMs) === "probe";
  health.start(nowMs);
  health.finish({ isProbe, hostStatus, waitMs }, nowMs);
}

/** Returns the current concurrency limit. */
function allowance(health: CircuitBreaker, nowMs: number): number {
  let calls = 0;
  while (health.admission(nowMs) === "free" && calls < 1000) {
    health.start(nowMs);
    calls += 1;
  }
  for (let call = 0; call < calls; call++)
    health.finish({ isProbe: false, hostStatus: "none", waitMs: 0 }, nowMs);
  return calls;
}

/** Makes as many concurrent calls as allowed, all successful. */
function fill(health: CircuitBreaker, nowMs: number): void {
  const calls = allowance(health, nowMs);
  for (let call = 0; call < calls; call++) health.start(nowMs);
  for (let call = 0; call < calls; call++)
    health.finish({ isProbe: false, hostStatus: "ok", waitMs: 0 }, nowMs);
}

test("starts with few calls, grows with responses up to slightly above its peak, and halves after a failure", () => {
  const health = new CircuitBreaker(settings);
  for (let response = 0; response < 20; response++) call(health, "ok", 0);
  expect(allowance(health, 0)).toBe(5);
  while (allowance(health, 0) < 24) fill(health, 0);
  call(health, "down", 0);
  expect(allowance(health, 0)).toBe(12);
  for (let failure = 0; failure < 2; failure++) {
    call(health, "busy", 0);
    call(health, "busy", 0);
  }
  expect(allowance(health, 0)).toBe(1);
});

test("resets the concurrency limit after a second without calls", () => {
  const health = new CircuitBreaker(settings);
  while (allowance(health, 0) < 24) fill(health, 0);
  expect(allowance(health, 1_000)).toBeGreaterThanOrEqual(24);
  expect(allowance(health, 2_001)).toBe(4);
});

test("keeps the concurrency limit while a call is in flight, however long it takes", () => {
  const health = new CircuitBreaker(settings);
  while (allowance(health, 0) < 24) fill(health, 0);
  const limit = allowance(health, 0);
  health.start(0);
  expect(allowance(health, 5_000)).toBe(limit - 1);
});

test("is down after three consecutive failures, with single probes at growing intervals", () => {
  const health = new CircuitBreaker(settings);
  for (let failure = 0; failure < 2; failure++) call(health, "down", 0);
  expect(health.admission(0)).toBe("free");
  call(health, "down", 0);
  expect([health.isDown(0), health.admission(99), health.nextChangeMs(0)]).toEqual([true, "wait", 100]);
  expect(health.admission(100)).toBe("probe");
  health.start(100);
  expect(health.admission(100)).toBe("wait");
  health.finish({ isProbe: true, hostStatus: "down", waitMs: 0 }, 150);
  expect([health.admission(349), health.admission(350)]).toEqual(["wait", "probe"]);
  call(health, "down", 350);
  expect([health.admission(749), health.admission(750)]).toEqual(["wait", "probe"]);
  call(health, "down", 750);
  expect([health.admission(999), health.admission(1_000), health.admission(1_150)]).toEqual([
    "wait",
    "given-up",
    "probe",
  ]);
  call(health, "ok", 1_150);
  expect([health.isDown(1_150), health.admission(1_150)]).toEqual([false, "free"]);
});

test("calls in flight when it went down do not delay its first probe", () => {
  const health = new CircuitBreaker(settings);
  for (let at = 0; at < 4; at++) health.start(at);
  for (let at = 0; at < 4; at++) health.finish({ isProbe: false, hostStatus: "down", waitMs: 0 }, at);
  expect(health.admission(102)).toBe("probe");
});

test("a response between failures, even a 429, leaves it up", () => {
  const health = new CircuitBreaker(settings);
  for (let round = 0; round < 10; round++) {
    call(health, "down", 0);
    call(health, "down", 0);
    call(health, "busy", 0);
  }
  expect(health.isDown(0)).toBe(false);
});

test("a requested delay applies to every call", () => {
  const health = new CircuitBreaker(settings);
  call(health, "busy", 0, 5_000);
  expect([health.admission(4_999), health.nextChangeMs(0), health.admission(5_000)]).toEqual([
    "wait",
    5_000,
    "free",
  ]);
});

/** A host that counts as down from a time on, to be probed 100 ms later. */
function downHost(sinceMs = 0): CircuitBreaker {
  const health = new CircuitBreaker(settings);
  for (let failure = 0; failure < 3; failure++) call(health, "down", sinceMs);
  return health;
}

test("says when its admission may next change without a call: at the next probe or when it is given up", () => {
  const health = downHost();
  expect(health.nextChangeMs(0)).toBe(100);
  expect(health.nextChangeMs(100)).toBe(1_000);
  call(health, "down", 950);
  expect(health.nextChangeMs(950)).toBe(1_000);
  expect(health.nextChangeMs(1_000)).toBe(1_150);
  expect(health.nextChangeMs(1_150)).toBe(Number.POSITIVE_INFINITY);
  expect(new CircuitBreaker(settings).nextChangeMs(0)).toBe(Number.POSITIVE_INFINITY);
});

test("counts as down for an hour after its last call, and during a call", () => {
  const health = downHost(5_000);
  const end = 5_000 + 3_600_000;
  expect([health.isDown(end - 1), health.isIdle(end - 1)]).toEqual([true, false]);
  expect([health.isDown(end), health.isIdle(end)]).toEqual([false, true]);
  health.start(end);
  expect([health.isDown(end), health.isIdle(end)]).toEqual([true, false]);
});

test("is idle while it is up and no call is in flight", () => {
  const health = new CircuitBreaker(settings);
  expect(health.isIdle(0)).toBe(true);
  health.start(0);
  health.start(0);
  expect([health.inFlight, health.isIdle(0)]).toEqual([2, false]);
});

test("is not idle before the end of a delay that it requested: a new one would call it at once", () => {
  const health = new CircuitBreaker(settings);
  call(health, "busy", 0, 5_000);
  expect([health.isIdle(4_999), health.isIdle(5_000)]).toEqual([false, true]);
});

test("a limit that failures have lowered stays low after a second without calls", () => {
  const health = new CircuitBreaker(settings);
  for (let failure = 0; failure < 2; failure++) call(health, "down", 0);
  expect(allowance(health, 0)).toBe(1);
  expect(allowance(health, 5_000)).toBe(1);
});

test("a later request for a shorter delay does not shorten an earlier one, nor the wait for a probe", () => {
  const health = new CircuitBreaker(settings);
  call(health, "busy", 0, 5_000);
  health.start(0);
  health.finish({ isProbe: false, hostStatus: "ok", waitMs: 0 }, 10);
  expect([health.admission(4_999), health.admission(5_000)]).toEqual(["wait", "free"]);
  const down = new CircuitBreaker(settings);
  for (let failure = 0; failure < 3; failure++) call(down, "down", 0, 700);
  expect([down.admission(699), down.admission(700)]).toEqual(["wait", "probe"]);
});
