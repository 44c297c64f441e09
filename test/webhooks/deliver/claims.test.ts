import { expect, test } from "bun:test";
import { type Claims, createClaims } from "../../../src/webhooks/deliver/claims.ts";
import type { ClaimedDelivery, DeliveryQueue } from "../../../src/webhooks/store/delivery-queue.ts";
import { openDeliveryBench } from "../../support/deliveries.ts";
import { until } from "../../support/manual-time.ts";
import { localStores } from "../../support/state-stores.ts";

const LEASE_MS = 40_000;
const ERROR_BACKOFF_MS = 5_000;
const limit = { calls: 10_000, windowMs: 60_000, maxWaitMs: 900_000 };

/** Claims over the queue of a real state, and what they ask of it. */
function openClaims() {
  const bench = openDeliveryBench();
  const { queue } = localStores(bench.state, { clock: bench.time, maxQueued: 10_000 });
  const asked: number[] = [];
  const undone: string[] = [];
  const dropped: number[] = [];
  const faults: string[] = [];
  const due: (number | null)[] = [];
  const work: Promise<void>[] = [];
  /** What a claim waits for before it returns. */
  let gate = async () => {};
  /** What a claim waits for before it is undone. */
  let undoGate = async () => {};
  const watched: Pick<DeliveryQueue, "claim" | "unclaim"> = {
    async claim(request) {
      asked.push(request.max);
      const claimed = await queue.claim(request);
      await gate();
      return claimed;
    },
    async unclaim(deliveries) {
      undone.push(...(deliveries.length > 0 ? deliveries.map(({ body }) => body) : ["nothing"]));
      await undoGate();
      await queue.unclaim(deliveries as readonly ClaimedDelivery[]);
    },
  };
  const claims: Claims = createClaims({
    queue: watched,
    clock: bench.time,
    settings: { leaseMs: LEASE_MS, maxRetryDelayMs: 3_600_000, errorBackoffMs: ERROR_BACKOFF_MS, limit },
    onDropped: (_, count) => dropped.push(count),
    onFault: (_, webhookId, message) => faults.push(`${webhookId}: ${message}`),
    track: (one) => work.push(one),
  });
  return {
    bench,
    claims,
    asked,
    undone,
    dropped,
    faults,
    due,
    setGate(next: () => Promise<void>) {
      gate = next;
    },
    setUndoGate(next: () => Promise<void>) {
      undoGate = next;
    },
    /** Queues `count` deliveries for a new webhook. */
    async add(name: string, count: number) {
      const hook = await bench.addWebhook(name, 1);
      await bench.queue([hook], ...Array.from({ length: count }, (_, n) => `${n}`));
    },
    async next(webhookId: string, claimLimit: number): Promise<string | undefined> {
      const slot = {
        webhookId,
        claimLimit,
        claimed: (nextAtMs: number | null) => due.push(nextAtMs && nextAtMs - bench.time.nowMs()),
        release: () => undefined,
      };
      return (await claims.next(slot))?.body;
    },
    /** Waits for what runs beside the calls. */
    settled: async () => {
      await Promise.all(work.splice(0));
    },
    [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose](),
  };
}

test("claims ahead of its slots, in order, and claims more once half of them are called", async () => {
  await using it = openClaims();
  await it.add("a", 14);
  const bodies: (string | undefined)[] = [];
  for (let call = 0; call < 15; call += 1) {
    bodies.push(await it.next("a", 8));
    await it.settled();
    if (call === 2) expect(it.asked).toEqual([8]);
    if (call === 3) expect(it.asked).toEqual([8, 8]);
  }
  expect(bodies).toEqual([...Array.from({ length: 14 }, (_, n) => `${n}`), undefined]);
  // The second claim returned fewer than it might, so nothing more was asked until they were called.
  expect(it.asked).toEqual([8, 8, 8]);
  expect(it.due).toEqual([...Array(14).fill(0), LEASE_MS]);
  it.claims.stop();
  expect([it.undone, it.dropped, it.faults]).toEqual([[], [], []]);
});

test("a webhook of one call at a time claims one", async () => {
  await using it = openClaims();
  await it.add("a", 3);
  for (const body of ["0", "1", "2", undefined]) expect(await it.next("a", 1)).toBe(body);
  expect(it.asked).toEqual([1, 1, 1, 1]);
  // Also while it still has what an earlier claim took.
  await it.add("b", 8);
  for (const [body, claimLimit] of [
    ["0", 4],
    ["1", 1],
    ["2", 1],
    ["3", 1],
    ["4", 1],
  ] as const)
    expect(await it.next("b", claimLimit)).toBe(body);
  expect(it.asked.slice(4)).toEqual([4, 1]);
});

test("claims one at a time while 512 wait for slots or are asked for, and more again once some are given back", async () => {
  await using it = openClaims();
  const names = Array.from({ length: 18 }, (_, n) => `hook-${n}`);
  for (const name of names) await it.add(name, 40);
  for (const name of names.slice(0, 17)) expect(await it.next(name, 32)).toBe("0");
  // 16 claims have left 31 each.
  expect(it.asked).toEqual([...Array(16).fill(32), 1]);
  it.claims.giveBack("hook-3");
  await it.settled();
  expect(it.undone).toEqual(Array.from({ length: 31 }, (_, n) => `${n + 1}`));
  expect(await it.next("hook-17", 32)).toBe("0");
  expect(await it.next("hook-3", 32)).toBe("1");
  expect(it.asked.slice(17)).toEqual([32, 1]);
  // Half of them are called, but a refill has no room before one more is.
  for (let call = 1; call <= 15; call += 1) expect(await it.next("hook-0", 32)).toBe(`${call}`);
  expect(it.asked).toHaveLength(19);
  expect(await it.next("hook-0", 32)).toBe("16");
  expect(it.asked.slice(19)).toEqual([32]);
});

test("what waited for more than a second, or was claimed in the future of the clock, is claimed again", async () => {
  for (const [ms, again] of [
    [1_001, "2"],
    // Not due yet by that clock.
    [-1, undefined],
  ] as const) {
    await using it = openClaims();
    await it.add("a", 4);
    await it.next("a", 4);
    it.bench.time.advanceMs(1_000);
    expect(await it.next("a", 4)).toBe("1");
    it.bench.time.advanceMs(ms - 1_000);
    expect(await it.next("a", 4)).toBe(again);
    expect(it.undone).toEqual(["2", "3"]);
    expect(it.asked).toEqual([4, 4, 4]);
  }
});

test.each(["giveBack", "stop"] as const)(
  "%s undoes what waits, and what a claim under way returns",
  async (undo) => {
    await using it = openClaims();
    for (const name of ["a", "b"]) await it.add(name, 8);
    expect(await it.next("a", 4)).toBe("0");
    const opened = Promise.withResolvers<void>();
    it.setGate(() => opened.promise);
    const underWay = it.next("b", 4);
    // Two of the four are called, so the webhook asks for more.
    for (const body of ["1", "2"]) expect(await it.next("a", 4)).toBe(body);
    expect(it.asked).toEqual([4, 4, 4]);
    for (const name of ["a", "b"]) {
      if (undo === "giveBack") it.claims.giveBack(name);
    }
    if (undo === "stop") it.claims.stop();
    expect(it.undone).toEqual(["3"]);
    opened.resolve();
    expect(await underWay).toBe("0");
    await it.settled();
    expect(it.undone.toSorted()).toEqual(["1", "2", "3", "3", "4", "5", "6", "7"].toSorted());
    if (undo === "stop") return;
    expect(await it.next("a", 4)).toBe("3");
  },
);

test("deliveries that a claim returns after a call has failed are due again at once", async () => {
  await using it = openClaims();
  await it.add("a", 3);
  const opened = Promise.withResolvers<void>();
  it.setGate(() => opened.promise);
  const underWay = it.next("a", 4);
  await until(() => it.asked.length > 0);
  it.claims.giveBack("a");
  opened.resolve();
  expect(await underWay).toBe("0");
  expect(it.undone).toEqual(["1", "2"]);
  // Not when the lease of the first one expires: nothing else announces them.
  expect(it.due).toEqual([0]);
  for (const body of ["1", "2"]) expect(await it.next("a", 4)).toBe(body);
});

test("after a call has failed, no more is called of what several claims of its webhook return", async () => {
  await using it = openClaims();
  await it.add("a", 8);
  const opened = Promise.withResolvers<void>();
  it.setGate(() => opened.promise);
  const underWay = [it.next("a", 4), it.next("a", 4)];
  await until(() => it.asked.length === 2);
  it.claims.giveBack("a");
  opened.resolve();
  expect(await Promise.all(underWay)).toEqual(["0", "4"]);
  await it.settled();
  expect(it.undone.toSorted()).toEqual(["1", "2", "3", "5", "6", "7"]);
});

test("of a webhook that has changed, nothing that was claimed before is called; it is due again at once", async () => {
  await using it = openClaims();
  for (const name of ["a", "b"]) await it.add(name, 8);
  expect(await it.next("a", 4)).toBe("0");
  const opened = Promise.withResolvers<void>();
  it.setGate(() => opened.promise);
  // Two claims for one webhook, and one that only fills up the other.
  const underWay = [it.next("b", 4), it.next("b", 4)];
  for (const body of ["1", "2"]) expect(await it.next("a", 4)).toBe(body);
  await until(() => it.asked.length === 4);
  for (const name of ["a", "b"]) it.claims.outdate(name);
  it.due.length = 0;
  opened.resolve();
  expect(await Promise.all(underWay)).toEqual([undefined, undefined]);
  await it.settled();
  const all = Array.from({ length: 8 }, (_, n) => `${n}`);
  expect(it.undone.toSorted()).toEqual([...all, ...all.slice(3)].toSorted());
  expect(it.due).toEqual([0, 0]);
  it.setGate(async () => {});
  expect([await it.next("a", 4), await it.next("b", 4)]).toEqual(["3", "0"]);
});

test("the engine waits until claims are undone before it has stopped", async () => {
  await using it = openClaims();
  await it.add("a", 3);
  expect(await it.next("a", 3)).toBe("0");
  const opened = Promise.withResolvers<void>();
  it.setUndoGate(() => opened.promise);
  it.claims.stop();
  let isSettled = false;
  const settled = it.settled().then(() => {
    isSettled = true;
  });
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(isSettled).toBe(false);
  opened.resolve();
  await settled;
  expect(it.undone).toEqual(["1", "2"]);
});

test("claims more each time half of the claimed deliveries are called", async () => {
  await using it = openClaims();
  await it.add("a", 40);
  const askedAt: number[] = [];
  for (let call = 0; call < 28; call += 1) {
    const before = it.asked.length;
    expect(await it.next("a", 8)).toBe(`${call}`);
    await it.settled();
    if (it.asked.length > before) askedAt.push(call);
  }
  expect(askedAt).toEqual([0, 3, 11, 19, 27]);
});

test("a call waits for the claim under way, whose deliveries are due for longer", async () => {
  await using it = openClaims();
  await it.add("a", 6);
  expect(await it.next("a", 4)).toBe("0");
  const opened = Promise.withResolvers<void>();
  it.setGate(() => opened.promise);
  for (const body of ["1", "2", "3"]) expect(await it.next("a", 4)).toBe(body);
  const waiting = it.next("a", 4);
  opened.resolve();
  expect(await waiting).toBe("4");
  expect(it.asked).toEqual([4, 4]);
});

async function failing(): Promise<void> {
  throw new Error("the state does not respond");
}

test("a claim that fails is made again after the delay, with the same room; its deliveries wait for their lease", async () => {
  await using it = openClaims();
  const names = Array.from({ length: 17 }, (_, n) => `hook-${n}`);
  for (const name of names) await it.add(name, 40);
  it.setGate(failing);
  for (let call = 0; call < 17; call += 1) expect(await it.next("hook-0", 32)).toBeUndefined();
  expect(new Set(it.faults)).toEqual(new Set(["hook-0: The next delivery could not be claimed"]));
  expect(it.due).toEqual(Array(17).fill(ERROR_BACKOFF_MS));
  expect(it.asked).toEqual(Array(17).fill(32));
  it.setGate(async () => {});
  expect(await it.next("hook-1", 4)).toBe("0");
  it.setGate(failing);
  // The refill fails: what is claimed is called, and the next claim finds the rest.
  for (const body of ["1", "2", "3"]) expect(await it.next("hook-1", 4)).toBe(body);
  await it.settled();
  expect(it.faults.at(-1)).toBe("hook-1: The next deliveries could not be claimed");
  it.setGate(async () => {});
  expect(await it.next("hook-1", 512)).toBe("8");
  expect(it.asked.at(-1)).toBe(512);
});
