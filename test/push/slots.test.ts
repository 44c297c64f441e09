import { describe, expect, test } from "bun:test";
import { DEFAULT_CIRCUIT_BREAKER, type HostStatus } from "../../src/push/circuit-breaker.ts";
import { createSlots, type Slot } from "../../src/push/slots.ts";

const never = new AbortController().signal;

/** Requests for slots and their outcomes. */
function startSlots(total: number, pacing = DEFAULT_CIRCUIT_BREAKER) {
  const slots = createSlots({ total, breakerSettings: pacing });
  const held: { campaign: string; host: string; slot: Slot }[] = [];
  const givenUp: string[] = [];
  const ask = (campaign: string, host: string, signal = never) =>
    slots.acquire({ campaign, host, signal }).then((slot) => {
      if (slot === "given-up") givenUp.push(host);
      else held.push({ campaign, host, slot });
    });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    slots,
    held,
    givenUp,
    ask,
    settled,
    count: (key: "campaign" | "host", value: string) => held.filter((each) => each[key] === value).length,
    async release(at: number, status: HostStatus = "ok") {
      held.splice(at, 1)[0]?.slot.release(status);
      await settled();
    },
  };
}

/** Raises the concurrency limit of a host. */
async function warmUp(given: ReturnType<typeof startSlots>, host: string, calls = 100): Promise<void> {
  for (let call = 0; call < calls; call++) void given.ask("warm-up", host);
  await given.settled();
  for (let call = 0; call < calls; call++) await given.release(given.held.length - 1);
}

test("never grants more than the total, and grants each released slot again", async () => {
  const given = startSlots(8);
  for (let at = 0; at < 50; at++) void given.ask(`c${at}`, `h${at}`);
  await given.settled();
  expect(given.held).toHaveLength(8);
  for (let at = 0; at < 42; at++) {
    await given.release(at % given.held.length);
    expect(given.slots.stats().inFlight).toBe(8);
  }
  while (given.held.length > 0) await given.release(0);
  expect(given.slots.stats()).toMatchObject({ inFlight: 0, waiting: 0 });
});

test("counts a repeated release once", async () => {
  const given = startSlots(2);
  await given.ask("c", "h");
  const slot = given.held[0]?.slot;
  slot?.release("ok");
  slot?.release("down");
  expect(given.slots.stats().inFlight).toBe(0);
});

describe("fairness", () => {
  test("leaves a free slot for another host", async () => {
    const given = startSlots(32);
    await warmUp(given, "large");
    for (let at = 0; at < 100; at++) void given.ask(`c${at}`, "large");
    await given.settled();
    expect(given.count("host", "large")).toBeGreaterThanOrEqual(24);
    expect(given.count("host", "large")).toBeLessThan(32);
    await given.ask("other", "small");
    expect(given.count("host", "small")).toBe(1);
  });

  test("gives a new host few slots until it has responded", async () => {
    const given = startSlots(32);
    for (let at = 0; at < 20; at++) void given.ask("c", "hanging");
    for (let at = 0; at < 4; at++) void given.ask("c", `well-${at}`);
    await given.settled();
    expect(given.count("host", "hanging")).toBe(4);
    expect(given.held).toHaveLength(8);
  });

  test("shares a host between two campaigns, whatever their number of batches", async () => {
    const given = startSlots(8);
    await warmUp(given, "h");
    for (let at = 0; at < 100; at++) void given.ask("large", "h");
    await given.settled();
    let granted = 0;
    for (let at = 0; at < 10; at++) void given.ask("small", "h").then(() => granted++);
    // Calls finish in order. Each campaign gets the released slots in turn.
    for (let at = 0; at < 24; at++) await given.release(0);
    expect(granted).toBe(10);
    expect(given.slots.stats().waiting).toBeGreaterThan(50);
  });

  test("prefers the host with the fewest calls within a campaign", async () => {
    const given = startSlots(4);
    await Promise.all(["a", "b", "c"].map((host) => warmUp(given, host, 10)));
    for (let at = 0; at < 10; at++) void given.ask("c1", "a");
    for (let at = 0; at < 10; at++) void given.ask("c1", "b");
    for (let at = 0; at < 10; at++) void given.ask("c1", "c");
    await given.settled();
    for (let at = 0; at < 9; at++) await given.release(0);
    const perHost = ["a", "b", "c"].map((host) => given.count("host", host));
    expect(Math.max(...perHost) - Math.min(...perHost)).toBeLessThanOrEqual(1);
  });
});

describe("a host that is down", () => {
  const pacing = { failuresUntilDown: 2, firstProbeMs: 20, maxProbeMs: 20, giveUpAfterMs: 60 };

  test("is probed by one waiting request; all are given up when it stays down", async () => {
    const given = startSlots(8, pacing);
    const asked = [1, 2].map(() => given.ask("c", "dead"));
    await Promise.all(asked);
    await given.release(0, "down");
    await given.release(0, "down");
    expect(given.slots.stats().hostsDown).toBe(1);
    const waiting = [1, 2, 3].map(() => given.ask("c", "dead"));
    await Promise.race(waiting);
    // The first one is the probe.
    expect([given.held.length, given.givenUp.length]).toEqual([1, 0]);
    await Promise.all(waiting);
    expect(given.givenUp).toEqual(["dead", "dead"]);
    await given.release(0, "ok");
    await given.ask("c", "dead");
    expect(given.held).toHaveLength(1);
  });

  test("does not delay other hosts", async () => {
    const given = startSlots(2, pacing);
    for (let call = 0; call < 2; call++) {
      await given.ask("c", "dead");
      await given.release(0, "down");
    }
    for (let at = 0; at < 10; at++) void given.ask("c", "dead");
    for (let at = 0; at < 30; at++) {
      await given.ask("c", "ok");
      await given.release(given.held.findIndex(({ host }) => host === "ok"));
    }
    expect(given.slots.stats().hostsDown).toBe(1);
  });
});

test("a cancelled request neither waits nor uses a slot", async () => {
  const given = startSlots(1);
  await given.ask("c", "h");
  const gone = new AbortController();
  const asked = given.ask("c", "h", gone.signal);
  gone.abort(new Error("stopped"));
  expect(asked).rejects.toThrow("stopped");
  expect(given.ask("c", "h", gone.signal)).rejects.toThrow("stopped");
  expect(given.slots.stats()).toMatchObject({ inFlight: 1, waiting: 0 });
  await given.release(0);
  expect(given.slots.stats().inFlight).toBe(0);
});
