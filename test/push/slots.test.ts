import { describe, expect, jest, test } from "bun:test";
import { seededRandom } from "../../src/demo/random.ts";
import {
  CircuitBreaker,
  DEFAULT_CIRCUIT_BREAKER,
  type HostStatus,
} from "../../src/push/fan-out/circuit-breaker.ts";
import { createSlots, type Slot } from "../../src/push/fan-out/slots.ts";

const never = new AbortController().signal;

/** Requests for slots and their outcomes. */
function startSlots(total: number, settings = DEFAULT_CIRCUIT_BREAKER) {
  const slots = createSlots({ total, breakerSettings: settings });
  const held: { campaign: string; host: string; slot: Slot }[] = [];
  const givenUp: string[] = [];
  const outcomes: ("held" | "given up")[] = [];
  const acquire = (campaign: string, host: string, signal = never) =>
    slots.acquire({ campaign, host, signal }).then((slot) => {
      outcomes.push(slot === "given-up" ? "given up" : "held");
      if (slot === "given-up") givenUp.push(host);
      else held.push({ campaign, host, slot });
    });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    slots,
    held,
    givenUp,
    /** The outcomes of the requests, in order. */
    outcomes,
    acquire,
    settled,
    count: (key: "campaign" | "host", value: string) => held.filter((each) => each[key] === value).length,
    async release(at: number, status: HostStatus = "ok") {
      held.splice(at, 1)[0]?.slot.release(status);
      await settled();
    },
  };
}

/** Raises the concurrency limit of a host. */
async function warmUp(fixture: ReturnType<typeof startSlots>, host: string, calls = 100): Promise<void> {
  for (let call = 0; call < calls; call++) void fixture.acquire("warm-up", host);
  await fixture.settled();
  for (let call = 0; call < calls; call++) await fixture.release(fixture.held.length - 1);
}

test("never grants more than the total, and grants each released slot again", async () => {
  const fixture = startSlots(8);
  for (let at = 0; at < 50; at++) void fixture.acquire(`c${at}`, `h${at}`);
  await fixture.settled();
  expect(fixture.held).toHaveLength(8);
  for (let at = 0; at < 42; at++) {
    await fixture.release(at % fixture.held.length);
    expect(fixture.slots.stats().inFlight).toBe(8);
  }
  while (fixture.held.length > 0) await fixture.release(0);
  expect(fixture.slots.stats()).toMatchObject({ inFlight: 0, waiting: 0 });
});

test("counts a repeated release once", async () => {
  const fixture = startSlots(2);
  await fixture.acquire("c", "h");
  const slot = fixture.held[0]?.slot;
  slot?.release("ok");
  slot?.release("down");
  expect(fixture.slots.stats().inFlight).toBe(0);
});

describe("fairness", () => {
  test("leaves a free slot for another host", async () => {
    const fixture = startSlots(32);
    await warmUp(fixture, "large");
    for (let at = 0; at < 100; at++) void fixture.acquire(`c${at}`, "large");
    await fixture.settled();
    expect(fixture.count("host", "large")).toBeGreaterThanOrEqual(24);
    expect(fixture.count("host", "large")).toBeLessThan(32);
    await fixture.acquire("other", "small");
    expect(fixture.count("host", "small")).toBe(1);
  });

  test.each([
    [32, 29],
    [8, 7],
    [5, 4],
    [1, 1],
  ])(
    "of %i slots gives a campaign with several hosts %i, so that another one starts at once",
    async (total, most) => {
      const fixture = startSlots(total);
      for (let round = 0; round < 20; round++)
        for (let at = 0; at < 16; at++) void fixture.acquire("large", `h${at}`);
      await fixture.settled();
      expect(fixture.held).toHaveLength(most);
      void fixture.acquire("small", "other");
      await fixture.settled();
      expect(fixture.count("campaign", "small")).toBe(total === 1 ? 0 : 1);
    },
  );

  test("leaves slots to the other hosts of a campaign when one hangs", async () => {
    const fixture = startSlots(32);
    await warmUp(fixture, "hanging");
    for (let at = 0; at < 100; at++) void fixture.acquire("c", "hanging");
    await fixture.settled();
    expect(fixture.held).toHaveLength(26);
    for (let at = 0; at < 10; at++) void fixture.acquire("c", `well-${at}`);
    await fixture.settled();
    expect(fixture.held).toHaveLength(29);
  });

  test("gives a new host few slots until it has responded", async () => {
    const fixture = startSlots(32);
    for (let at = 0; at < 20; at++) void fixture.acquire("c", "hanging");
    for (let at = 0; at < 4; at++) void fixture.acquire("c", `well-${at}`);
    await fixture.settled();
    expect(fixture.count("host", "hanging")).toBe(4);
    expect(fixture.held).toHaveLength(8);
  });

  test("shares a host between two campaigns, whatever their number of batches", async () => {
    const fixture = startSlots(8);
    await warmUp(fixture, "h");
    for (let at = 0; at < 100; at++) void fixture.acquire("large", "h");
    await fixture.settled();
    let granted = 0;
    for (let at = 0; at < 10; at++) void fixture.acquire("small", "h").then(() => granted++);
    // Calls finish in order. Each campaign gets the released slots in turn.
    for (let at = 0; at < 24; at++) await fixture.release(0);
    expect(granted).toBe(10);
    expect(fixture.slots.stats().waiting).toBeGreaterThan(50);
  });

  test("prefers the host with the fewest calls within a campaign", async () => {
    const fixture = startSlots(4);
    await Promise.all(["a", "b", "c"].map((host) => warmUp(fixture, host, 10)));
    for (let at = 0; at < 10; at++) void fixture.acquire("c1", "a");
    for (let at = 0; at < 10; at++) void fixture.acquire("c1", "b");
    for (let at = 0; at < 10; at++) void fixture.acquire("c1", "c");
    await fixture.settled();
    for (let at = 0; at < 9; at++) await fixture.release(0);
    const perHost = ["a", "b", "c"].map((host) => fixture.count("host", host));
    expect(Math.max(...perHost) - Math.min(...perHost)).toBeLessThanOrEqual(1);
  });
});

describe("a host that is down", () => {
  const settings = { failuresUntilDown: 2, firstProbeMs: 20, maxProbeMs: 20, giveUpAfterMs: 60 };

  test("is probed by one waiting request; all are given up when it stays down", async () => {
    const fixture = startSlots(8, settings);
    const requested = [1, 2].map(() => fixture.acquire("c", "dead"));
    await Promise.all(requested);
    await fixture.release(0, "down");
    await fixture.release(0, "down");
    expect(fixture.slots.stats().hostsDown).toBe(1);
    const waiting = [1, 2, 3].map(() => fixture.acquire("c", "dead"));
    await Promise.all(waiting);
    // The first one is the probe, also when a busy machine is late for both.
    expect(fixture.outcomes.slice(-3)).toEqual(["held", "given up", "given up"]);
    await fixture.release(0, "ok");
    await fixture.acquire("c", "dead");
    expect(fixture.held).toHaveLength(1);
  });

  test("is probed again only after a longer wait when its probe fails", async () => {
    const patient = { ...settings, failuresUntilDown: 1, maxProbeMs: 60_000, giveUpAfterMs: 60_000 };
    const fixture = startSlots(8, patient);
    await fixture.acquire("c", "dead");
    await fixture.release(0, "down");
    await fixture.acquire("c", "dead");
    const failedAt = performance.now();
    await fixture.release(0, "down");
    await fixture.acquire("c", "dead");
    // Twice as long as before the first probe; a timer may fire a millisecond early.
    expect(performance.now() - failedAt).toBeGreaterThanOrEqual(39);
  });

  test("does not delay other hosts", async () => {
    const fixture = startSlots(2, settings);
    for (let call = 0; call < 2; call++) {
      await fixture.acquire("c", "dead");
      await fixture.release(0, "down");
    }
    for (let at = 0; at < 10; at++) void fixture.acquire("c", "dead");
    for (let at = 0; at < 30; at++) {
      await fixture.acquire("c", "ok");
      await fixture.release(fixture.held.findIndex(({ host }) => host === "ok"));
    }
    expect(fixture.slots.stats().hostsDown).toBe(1);
  });
});

describe("memory of hosts", () => {
  /** Makes one call to each of so many hosts that the slots forget those that are idle. */
  async function callManyHosts(fixture: ReturnType<typeof startSlots>): Promise<void> {
    for (let at = 0; at < 10_000; at++) {
      await fixture.acquire("other", `other-${at}`);
      fixture.held.pop()?.slot.release("ok");
    }
  }

  test("keeps a host that is down, one with a call, and one for which a request waits, however many others are called", async () => {
    const fixture = startSlots(16, {
      ...DEFAULT_CIRCUIT_BREAKER,
      failuresUntilDown: 1,
      firstProbeMs: 60_000,
    });
    await fixture.acquire("c", "dead");
    await fixture.release(0, "down");
    for (let at = 0; at < 5; at++) void fixture.acquire("c", "busy");
    await fixture.settled();
    // The fifth request waits for one of the four calls, which are all that a new host gets.
    expect([fixture.held.length, fixture.slots.stats().waiting]).toEqual([4, 1]);
    await callManyHosts(fixture);
    expect(fixture.slots.stats()).toMatchObject({ inFlight: 4, waiting: 1, hostsDown: 1 });
    await fixture.acquire("c", "small");
    void fixture.acquire("c", "busy");
    await fixture.settled();
    expect(fixture.count("host", "busy")).toBe(4);
  });

  test("forgets the concurrency limit of a host when more than 10,000 others are called", async () => {
    const fixture = startSlots(32);
    for (let call = 0; call < 2; call++) {
      await fixture.acquire("c", "known");
      await fixture.release(0, "busy");
    }
    const granted = async () => {
      const stop = new AbortController();
      for (let at = 0; at < 20; at++) fixture.acquire("c", "known", stop.signal).catch(() => undefined);
      await fixture.settled();
      stop.abort();
      const count = fixture.held.length;
      while (fixture.held.length > 0) fixture.held.pop()?.slot.release("none");
      return count;
    };
    expect(await granted()).toBe(1);
    await callManyHosts(fixture);
    expect(await granted()).toBe(4);
  });
});

test("reports how long the oldest request has waited; 0 when none waits", async () => {
  const fixture = startSlots(1);
  await fixture.acquire("a", "h");
  expect(fixture.slots.stats().oldestWaitMs).toBe(0);
  const before = performance.now();
  void fixture.acquire("b", "h");
  const after = performance.now();
  while (performance.now() - after < 5);
  void fixture.acquire("c", "h");
  const now = performance.now();
  const { oldestWaitMs } = fixture.slots.stats();
  expect(oldestWaitMs).toBeGreaterThanOrEqual(now - after);
  expect(oldestWaitMs).toBeLessThanOrEqual(performance.now() - before);
});

test("sets no timer while every waiting request depends on the end of a call", async () => {
  jest.useFakeTimers();
  try {
    const { slots } = startSlots(1);
    void slots.acquire({ campaign: "a", host: "h", signal: never });
    void slots.acquire({ campaign: "b", host: "h", signal: never });
    expect(slots.stats()).toMatchObject({ inFlight: 1, waiting: 1 });
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

test("a cancelled request neither waits nor uses a slot", async () => {
  const fixture = startSlots(1);
  await fixture.acquire("c", "h");
  const gone = new AbortController();
  const requested = fixture.acquire("c", "h", gone.signal);
  gone.abort(new Error("stopped"));
  expect(requested).rejects.toThrow("stopped");
  expect(fixture.acquire("c", "h", gone.signal)).rejects.toThrow("stopped");
  expect(fixture.slots.stats()).toMatchObject({ inFlight: 1, waiting: 0 });
  await fixture.release(0);
  expect(fixture.slots.stats().inFlight).toBe(0);
});

test("grants as a plain search over all requests does: campaign, then host with the fewest, then the oldest", async () => {
  for (let run = 0; run < 60; run++) {
    const random = seededRandom(`slots ${run}`);
    const total = 1 + random.below(12);
    const slots = createSlots({ total, breakerSettings: DEFAULT_CIRCUIT_BREAKER });
    const model = new PlainSlots(total);
    const held: { name: number; slot: Slot }[] = [];
    const waiting = new Map<number, AbortController>();
    for (let name = 0; name < 150; name++) {
      const action = random.weighted([6, 3, 1]);
      if (action === 0) {
        const request = { campaign: `c${random.below(4)}`, host: `h${random.below(4)}` };
        const cancel = new AbortController();
        waiting.set(name, cancel);
        slots.acquire({ ...request, signal: cancel.signal }).then(
          (slot) => {
            waiting.delete(name);
            if (slot !== "given-up") held.push({ name, slot });
          },
          () => {},
        );
        model.acquire({ name, ...request });
      } else if (action === 1 && held.length > 0) {
        const [{ name: released, slot } = held[0]!] = held.splice(random.below(held.length), 1);
        const status = random.pick<HostStatus>(["ok", "ok", "busy", "none"]);
        slot.release(status);
        model.release(released, status);
      } else if (waiting.size > 0) {
        const cancelled = random.pick([...waiting.keys()]);
        waiting.get(cancelled)?.abort(new Error("cancelled"));
        waiting.delete(cancelled);
        model.cancel(cancelled);
      }
      await Promise.resolve();
      await Promise.resolve();
      expect(held.map((one) => one.name).sort()).toEqual(model.held.map((one) => one.name).sort());
      expect(slots.stats()).toMatchObject({ inFlight: held.length, waiting: waiting.size });
    }
  }
});

interface Named {
  readonly name: number;
  readonly campaign: string;
  readonly host: string;
}

/** Chooses by looking at every waiting request. */
class PlainSlots {
  readonly held: Named[] = [];
  readonly #breakers = new Map<string, CircuitBreaker>();
  #waiting: Named[] = [];

  constructor(readonly total: number) {}

  acquire(request: Named): void {
    if (!this.#breakers.has(request.host))
      this.#breakers.set(request.host, new CircuitBreaker(DEFAULT_CIRCUIT_BREAKER));
    this.#waiting.push(request);
    this.#grant();
  }

  release(name: number, hostStatus: HostStatus): void {
    const at = this.held.findIndex((one) => one.name === name);
    const [one] = this.held.splice(at, 1);
    this.#breakers.get(one?.host ?? "")?.finish({ isProbe: false, hostStatus, waitMs: 0 }, performance.now());
    this.#grant();
  }

  cancel(name: number): void {
    this.#waiting = this.#waiting.filter((one) => one.name !== name);
  }

  #grant(): void {
    for (;;) {
      const free = this.total - this.held.length;
      if (free === 0) return;
      const ranked = this.#waiting
        .map((one) => ({
          one,
          held: this.held.filter(({ campaign }) => campaign === one.campaign).length,
          hostHeld: this.held.filter(({ host }) => host === one.host).length,
        }))
        .filter(
          ({ one, held, hostHeld }) =>
            held < (free === 1 ? 4 : 8 * free) &&
            hostHeld < 4 * free &&
            this.#breakers.get(one.host)?.admission(performance.now()) === "free",
        )
        .sort((a, b) => a.held - b.held || a.hostHeld - b.hostHeld || a.one.name - b.one.name);
      const next = ranked[0]?.one;
      if (!next) return;
      this.#waiting = this.#waiting.filter((one) => one !== next);
      this.#breakers.get(next.host)?.start(performance.now());
      this.held.push(next);
    }
  }
}
