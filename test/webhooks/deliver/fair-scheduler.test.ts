import { expect, test } from "bun:test";
import fc from "fast-check";
import { FairScheduler, type SchedulerSlot } from "../../../src/webhooks/deliver/fair-scheduler.ts";

const limits = { total: 16, perWebhook: 4, claimAheadMs: 200 };
const QUICK_MS = 5;
const HANGING_MS = 10_000;
const delivered = (durationMs: number) => ({ durationMs, isDelivered: true });

/** A scheduler whose webhooks always have due deliveries, and a clock that the test moves. */
class Simulation {
  readonly scheduler = new FairScheduler(limits);
  nowMs = 0;
  /** Calls in flight with the time of their end. */
  #calls: { slot: SchedulerSlot; endsAtMs: number; tookMs: number }[] = [];
  readonly started: { webhookId: string; atMs: number }[] = [];

  constructor(readonly callMs: (webhookId: string) => number) {}

  /** Acquires all available slots; each webhook has more due at once. */
  fill(hasMore: (webhookId: string) => boolean = () => true): void {
    for (let slot = this.scheduler.acquire(this.nowMs); slot; slot = this.scheduler.acquire(this.nowMs)) {
      const tookMs = this.callMs(slot.webhookId);
      this.started.push({ webhookId: slot.webhookId, atMs: this.nowMs });
      this.#calls.push({ slot, endsAtMs: this.nowMs + tookMs, tookMs });
      slot.claimed(hasMore(slot.webhookId) ? this.nowMs : null, this.nowMs);
    }
  }

  /** Moves to the end of the next call. */
  step(): void {
    this.#calls.sort((a, b) => a.endsAtMs - b.endsAtMs);
    const next = this.#calls.shift();
    if (!next) return;
    this.nowMs = next.endsAtMs;
    next.slot.release(this.nowMs, delivered(next.tookMs));
  }

  inFlight(webhookId: string): number {
    return this.#calls.filter(({ slot }) => slot.webhookId === webhookId).length;
  }

  callsBy(webhookId: string): number {
    return this.started.filter((call) => call.webhookId === webhookId).length;
  }
}

test("a webhook starts with one call at a time and gets four while it responds quickly", () => {
  const simulation = new Simulation(() => QUICK_MS);
  simulation.scheduler.wake("a", 0, 0);
  const most: number[] = [];
  for (let round = 0; round < 12; round += 1) {
    simulation.fill();
    most.push(simulation.inFlight("a"));
    simulation.step();
  }
  expect(most[0]).toBe(1);
  expect(Math.max(...most)).toBe(4);
});

/** Counts calls to `quick` within the second from `fromMs`, beside 200 receivers that always hang. */
function callsBesideHanging(fromMs: number, areKnown: boolean): number {
  const simulation = new Simulation((webhookId) => (webhookId === "quick" ? QUICK_MS : HANGING_MS));
  simulation.scheduler.wake("hang-0", 0, 0, areKnown);
  if (!areKnown) simulation.scheduler.wake("quick", 0, 0);
  for (let n = 1; n < 200; n += 1) simulation.scheduler.wake(`hang-${n}`, 0, 0, areKnown);
  simulation.scheduler.wake("quick", 0, 0);
  const playUntil = (untilMs: number) => {
    for (simulation.fill(); simulation.nowMs < untilMs; simulation.fill()) simulation.step();
  };
  playUntil(fromMs);
  const before = simulation.callsBy("quick");
  playUntil(simulation.nowMs + 1_000);
  return simulation.callsBy("quick") - before;
}

test("a quick receiver gets at least half of its calls beside any number of receivers that hang", () => {
  const alone = new Simulation(() => QUICK_MS);
  alone.scheduler.wake("quick", 0, 0);
  for (alone.fill(); alone.nowMs < 1_000; alone.fill()) alone.step();
  // Two at a time instead of four: some slots stay free for new webhooks.
  const half = 0.49 * alone.callsBy("quick");
  // At first nothing is known of any webhook; much later their speeds are known.
  expect(callsBesideHanging(0, false)).toBeGreaterThan(half);
  expect(callsBesideHanging(25_000, false)).toBeGreaterThan(half);
  // After a restart with all of them due, those that failed before come after the others.
  expect(callsBesideHanging(0, true)).toBeGreaterThan(half);
});

test("quick receivers that start to hang leave a slot for others, and then share a few", () => {
  let areHanging = false;
  const simulation = new Simulation((webhookId) =>
    areHanging && webhookId !== "well" ? HANGING_MS : QUICK_MS,
  );
  const names = ["a", "b", "c", "d", "e", "f"];
  for (const name of [...names, "well"]) simulation.scheduler.wake(name, 0, 0);
  for (let round = 0; round < 400; round += 1) {
    simulation.fill((webhookId) => webhookId !== "well" || simulation.callsBy("well") < 5);
    simulation.step();
  }
  areHanging = true;
  const fromMs = simulation.nowMs + 3 * HANGING_MS;
  while (simulation.nowMs < fromMs) {
    simulation.fill((webhookId) => webhookId !== "well");
    simulation.step();
  }
  simulation.fill((webhookId) => webhookId !== "well");
  expect(simulation.scheduler.stats(simulation.nowMs).inFlight).toBe(4);
  const calls = simulation.callsBy("well");
  simulation.scheduler.wake("well", simulation.nowMs, simulation.nowMs);
  simulation.fill((webhookId) => webhookId !== "well");
  expect(simulation.callsBy("well")).toBe(calls + 1);
});

test("a webhook gets no further call while it has as many as slots are free", () => {
  const scheduler = new FairScheduler({ total: 4, perWebhook: 4, claimAheadMs: 200 });
  scheduler.wake("a", 0, 0);
  const take = () => {
    const slot = scheduler.acquire(0);
    slot?.claimed(0, 0);
    return slot;
  };
  // From its third quick call on it may have four at a time.
  for (let call = 0; call < 3; call += 1) take()?.release(0, delivered(QUICK_MS));
  const held = [take(), take()];
  expect([held.includes(undefined), take()]).toEqual([false, undefined]);
  expect(scheduler.stats(0)).toMatchObject({ inFlight: 2, waiting: 1 });
  // The free ones are for others.
  scheduler.wake("b", 0, 0);
  expect(take()?.webhookId).toBe("b");
  held[0]?.release(0, delivered(QUICK_MS));
  expect(take()?.webhookId).toBe("a");
});

test("no slot is given beyond the total, to a quick webhook without a call either", () => {
  const scheduler = new FairScheduler({ total: 2, perWebhook: 4, claimAheadMs: 200 });
  const names = ["a", "b", "c"];
  for (const name of names) {
    scheduler.wake(name, 0, 0);
    scheduler.acquire(0)?.release(0, delivered(QUICK_MS));
  }
  for (const name of names) scheduler.wake(name, 0, 0);
  const given = names.map(() => scheduler.acquire(0)?.webhookId);
  expect(given).toEqual(["a", "b", undefined]);
});

test("slow and new webhooks leave a quarter of the slots to quick ones", () => {
  const scheduler = new FairScheduler({ total: 8, perWebhook: 4, claimAheadMs: 200 });
  const names = ["slow-1", "slow-2", "slow-3", "quick"];
  for (const name of names) scheduler.wake(name, 0, 0);
  for (const name of names)
    scheduler.acquire(0)?.release(0, delivered(name === "quick" ? QUICK_MS : HANGING_MS));
  expect(scheduler.stats(0)).toMatchObject({ inFlight: 0, slowWebhooks: 3 });
  const started = (...woken: string[]) => {
    for (const name of woken) scheduler.wake(name, 0, 0);
    const slots: (SchedulerSlot | undefined)[] = [];
    do slots.push(scheduler.acquire(0));
    while (slots.at(-1));
    return slots.flatMap((slot) => slot?.webhookId ?? []);
  };
  // A quarter of the slots for slow ones, three quarters for both.
  expect(started("slow-1", "slow-2", "slow-3")).toEqual(["slow-1", "slow-2"]);
  expect(started("a", "b", "c", "d", "e")).toEqual(["a", "b", "c", "d"]);
  expect(started("quick")).toEqual(["quick"]);
});

test("a webhook has one claim at a time, and a slot without a call says nothing of its speed", () => {
  const scheduler = new FairScheduler(limits);
  scheduler.wake("a", 0, 0);
  scheduler.acquire(0)?.release(0, delivered(QUICK_MS));
  scheduler.wake("a", 0, 0);
  const slot = scheduler.acquire(0);
  scheduler.wake("a", 0, 0);
  expect(scheduler.acquire(0)).toBeUndefined();
  slot?.claimed(null, 0);
  const second = scheduler.acquire(0);
  expect(second?.webhookId).toBe("a");
  second?.release(0);
  scheduler.wake("a", 0, 0);
  expect(scheduler.stats(700)).toEqual({ inFlight: 1, waiting: 1, oldestDueMs: 700, slowWebhooks: 0 });
  // Released twice, it counts once.
  second?.release(0);
  expect(scheduler.stats(0).inFlight).toBe(1);
});

test("a webhook is due at its earliest time, whatever was announced before", () => {
  const scheduler = new FairScheduler(limits);
  scheduler.wake("a", 900, 0);
  scheduler.wake("a", 500, 0);
  scheduler.wake("a", 700, 0);
  expect(scheduler.nextDueMs()).toBe(500);
  expect(scheduler.acquire(499)).toBeUndefined();
  expect(scheduler.stats(600).oldestDueMs).toBe(100);
  const slot = scheduler.acquire(500);
  // Announced during the claim.
  scheduler.wake("a", 900, 500);
  slot?.claimed(800, 500);
  expect(scheduler.nextDueMs()).toBe(800);
  slot?.release(500, delivered(QUICK_MS));
  expect(scheduler.acquire(799)).toBeUndefined();
  expect(scheduler.acquire(800)?.webhookId).toBe("a");
  expect(scheduler.nextDueMs()).toBeUndefined();
});

test("a claim takes what the calls should end in 200 ms, up to 32, and one after a failure", () => {
  const scheduler = new FairScheduler(limits);
  const limitAfter = (callMs: number, isDelivered = true) => {
    scheduler.wake("a", 0, 0);
    scheduler.acquire(0)?.release(0, { durationMs: callMs, isDelivered });
    scheduler.wake("a", 0, 0);
    const slot = scheduler.acquire(0);
    slot?.release(0);
    return slot?.claimLimit;
  };
  const first = Array.from({ length: 40 }, () => limitAfter(0));
  expect(first).toEqual([...Array.from({ length: 32 }, (_, n) => n + 1), ...Array(8).fill(32)]);
  expect([limitAfter(50), limitAfter(100), limitAfter(900)]).toEqual([16, 8, 1]);
  expect([limitAfter(5, false), limitAfter(5)]).toEqual([1, 1]);
  expect(limitAfter(HANGING_MS)).toBe(1);
});

test("a claim for a slow webhook takes one, however many calls it may have at a time", () => {
  const scheduler = new FairScheduler({ total: 128, perWebhook: 64, claimAheadMs: 200 });
  const limits = Array.from({ length: 4 }, (_, n) => {
    scheduler.wake("a", 0, 0);
    const slot = scheduler.acquire(0);
    slot?.release(0, delivered(n < 2 ? 1_999 : 2_000));
    return slot?.claimLimit;
  });
  expect(limits).toEqual([1, 1, 2, 1]);
});

test("quick webhooks get equal shares", () => {
  const simulation = new Simulation(() => QUICK_MS);
  const names = Array.from({ length: 40 }, (_, n) => `hook-${n}`);
  for (const name of names) simulation.scheduler.wake(name, 0, 0);
  while (simulation.started.length < 8_000) {
    simulation.fill();
    simulation.step();
  }
  const counts = names.map((name) => simulation.callsBy(name));
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(10);
});

test("a webhook that becomes slow while it waits counts as slow", () => {
  const scheduler = new FairScheduler({ total: 4, perWebhook: 4, claimAheadMs: 200 });
  const take = () => {
    const slot = scheduler.acquire(0);
    if (!slot) throw new Error("no slot");
    return slot;
  };
  const names = ["a", "b"];
  for (const name of names) scheduler.wake(name, 0, 0);
  for (const slot of names.map(take)) {
    slot.claimed(0, 0);
    slot.release(0, delivered(QUICK_MS));
  }
  // Each has responded once and may have two calls now; each has one in flight, and both wait again.
  const slots = names.map(take);
  for (const slot of slots) slot.claimed(0, 0);
  for (const slot of slots) slot.release(HANGING_MS, delivered(HANGING_MS));
  // Slow webhooks get one of four slots.
  expect(scheduler.acquire(HANGING_MS)?.webhookId).toBe("a");
  expect(scheduler.acquire(HANGING_MS)).toBeUndefined();
});

test("a webhook that was slow while it waited gets no more calls than its quick ones since then allow", () => {
  const scheduler = new FairScheduler({ total: 20, perWebhook: 8, claimAheadMs: 200 });
  const take = () => {
    const slot = scheduler.acquire(0);
    slot?.claimed(0, 0);
    return slot;
  };
  scheduler.wake("a", 0, 0);
  for (let call = 0; call < 8; call += 1) take()?.release(0, delivered(QUICK_MS));
  // It may have eight, and waits for its fifth.
  const held = Array.from({ length: 4 }, take);
  held[0]?.release(0, delivered(HANGING_MS));
  held[1]?.release(0, delivered(QUICK_MS));
  // One quick call allows two at a time, which it has.
  expect(scheduler.stats(0)).toMatchObject({ inFlight: 2, waiting: 1 });
  expect(take()).toBeUndefined();
  held[2]?.release(0, delivered(QUICK_MS));
  expect(take()?.webhookId).toBe("a");
});

test("never exceeds the total or a webhook's limit, and serves every webhook", () => {
  const name = fc.integer({ min: 0, max: 5 }).map((n) => `hook-${n}`);
  const action = fc.oneof(
    fc.record({ act: fc.constant("wake" as const), name, inMs: fc.integer({ min: 0, max: 50 }) }),
    fc.record({ act: fc.constant("take" as const) }),
    fc.record({ act: fc.constant("claimed" as const), nth: fc.nat(9), nextInMs: fc.option(fc.nat(40)) }),
    fc.record({
      act: fc.constant("release" as const),
      nth: fc.nat(9),
      callMs: fc.option(fc.constantFrom(5, 5_000)),
    }),
    fc.record({ act: fc.constant("pass" as const), ms: fc.nat(60) }),
  );
  fc.assert(
    fc.property(fc.array(action, { maxLength: 200 }), (actions) => {
      const scheduler = new FairScheduler({ total: 5, perWebhook: 3, claimAheadMs: 200 });
      let nowMs = 0;
      let held: { slot: SchedulerSlot; isClaiming: boolean; hasMore: boolean }[] = [];
      const waiting = new Set<string>();
      const check = () => {
        expect(scheduler.stats(nowMs).inFlight).toBe(held.length);
        expect(held.length).toBeLessThanOrEqual(5);
        const byName = Map.groupBy(held, ({ slot }) => slot.webhookId);
        for (const slots of byName.values()) {
          expect(slots.length).toBeLessThanOrEqual(3);
          expect(slots.filter(({ isClaiming }) => isClaiming).length).toBeLessThanOrEqual(1);
        }
      };
      const take = () => {
        const slot = scheduler.acquire(nowMs);
        if (slot) held.push({ slot, isClaiming: true, hasMore: false });
        if (slot) waiting.delete(slot.webhookId);
        return slot;
      };
      for (const one of actions) {
        if (one.act === "wake") {
          scheduler.wake(one.name, nowMs + one.inMs, nowMs);
          waiting.add(one.name);
        }
        if (one.act === "take") take();
        const other = "nth" in one ? held[one.nth] : undefined;
        if (one.act === "claimed" && other?.isClaiming) {
          other.isClaiming = false;
          other.slot.claimed(one.nextInMs === null ? null : nowMs + one.nextInMs, nowMs);
          if (one.nextInMs !== null) waiting.add(other.slot.webhookId);
        }
        if (one.act === "release" && other && !other.isClaiming) {
          other.slot.release(nowMs, one.callMs === null ? undefined : delivered(one.callMs));
          other.slot.release(nowMs, delivered(1));
          held = held.filter((some) => some !== other);
        }
        if (one.act === "pass") nowMs += one.ms;
        check();
      }
      // When all calls have finished, every waiting webhook gets a slot.
      for (let round = 0; round < 100 && (waiting.size > 0 || held.length > 0); round += 1) {
        for (const { slot, isClaiming } of held.splice(0)) {
          if (isClaiming) slot.claimed(null, nowMs);
          slot.release(nowMs, delivered(5));
        }
        nowMs = Math.max(nowMs, scheduler.nextDueMs() ?? nowMs);
        while (take());
      }
      expect([...waiting]).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test("a parked webhook gets a call once enough slots of others are free, without being announced again", () => {
  const scheduler = new FairScheduler({ total: 8, perWebhook: 4, claimAheadMs: 200 });
  const take = () => {
    const slot = scheduler.acquire(0);
    slot?.claimed(0, 0);
    return slot;
  };
  for (const name of ["a", "b", "c"]) {
    scheduler.wake(name, 0, 0);
    for (let call = 0; call < 5; call += 1) {
      const slot = scheduler.acquire(0);
      slot?.claimed(call < 4 ? 0 : null, 0);
      slot?.release(0, delivered(QUICK_MS));
    }
  }
  for (const name of ["a", "b", "c"]) scheduler.wake(name, 0, 0);
  const slots: SchedulerSlot[] = [];
  for (let slot = take(); slot; slot = take()) slots.push(slot);
  const namesOf = () => slots.map(({ webhookId }) => webhookId);
  // Two are free, and each has as many.
  expect(namesOf().sort()).toEqual(["a", "a", "b", "b", "c", "c"]);
  expect(scheduler.stats(0).waiting).toBe(3);
  // The last of them has no more to send.
  const ofLast = slots.filter(({ webhookId }) => webhookId === "c");
  for (const slot of ofLast) slot.claimed(null, 0);
  for (const slot of ofLast) slot.release(0);
  expect(["a", "b"]).toContain(take()?.webhookId ?? "none");
});

test("beyond the limit of known webhooks only those without a call are forgotten", () => {
  const many = 20_000;
  const scheduler = new FairScheduler({ total: 4, perWebhook: 4, claimAheadMs: 200 });
  const callOf = (name: string) => {
    scheduler.wake(name, 0, 0);
    const slot = scheduler.acquire(0);
    slot?.claimed(null, 0);
    return slot;
  };
  for (let n = 0; n < many; n += 1) callOf(`slow-${n}`)?.release(0, delivered(HANGING_MS));
  expect(scheduler.stats(0).slowWebhooks).toBe(many);
  const call = callOf("one more");
  expect(call?.webhookId).toBe("one more");
  // Its first call is still in flight: it does not get a second one.
  scheduler.wake("one more", 0, 0);
  expect(scheduler.acquire(0)).toBeUndefined();
  call?.release(0, delivered(HANGING_MS));
  scheduler.acquire(0)?.claimed(null, 0);
  callOf("the last")?.release(0, delivered(HANGING_MS));
  expect(scheduler.stats(0).slowWebhooks).toBeLessThanOrEqual(many + 1);
});
