import { expect, test } from "bun:test";
import { StateUnavailable } from "../../../src/db/state/unavailable.ts";
import { createSettlements } from "../../../src/webhooks/deliver/settlements.ts";
import type { ClaimedDelivery, Settlement, Verdict } from "../../../src/webhooks/store/delivery-queue.ts";
import { openDeliveryBench } from "../../support/deliveries.ts";
import { until } from "../../support/manual-time.ts";
import { localStores } from "../../support/state-stores.ts";

const LEASE_MS = 40_000;

/** Settlements over the queue of a real state, and the groups that they are stored in. */
async function openSettlements(count: number) {
  const bench = openDeliveryBench();
  const { queue } = localStores(bench.state, { clock: bench.time });
  const hook = await bench.addWebhook("a", 1);
  await bench.queue([hook], ...Array.from({ length: count }, (_, n) => `${n}`));
  const nowMs = bench.time.nowMs();
  const claimed = await queue.claim({
    webhookId: hook,
    nowMs,
    leaseEndsAtMs: nowMs + LEASE_MS,
    maxRetryDelayMs: 3_600_000,
    limit: { calls: 10_000, windowMs: 60_000, maxWaitMs: 900_000 },
    max: count,
    maxHoldMs: 0,
  });
  const groups: number[] = [];
  const faults: unknown[] = [];
  const it = {
    bench,
    groups,
    faults,
    deliveries: claimed?.deliveries ?? [],
    isStopping: false,
    /** What a group waits for before it is stored. */
    gate: async () => {},
    settle: (delivery: ClaimedDelivery | undefined, verdict: Verdict = { kind: "delivered" }) => {
      if (!delivery) throw new Error("not claimed");
      const attempt = { atMs: nowMs, status: 200, error: null, durationMs: 5, responseText: "" };
      return store({ delivery, verdict, holdUntilMs: null, attempt });
    },
    states: async () => (await bench.list(hook)).map(({ state }) => state).sort(),
    [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose](),
  };
  const store = createSettlements({
    queue: {
      async settle(settlements: readonly Settlement[], rule) {
        groups.push(settlements.length);
        await it.gate();
        return queue.settle(settlements, rule);
      },
    },
    rule: { failures: 2, runSecs: 0 },
    clock: bench.time,
    sleep: (ms) => new Promise((resolve) => bench.time.after(ms, resolve)),
    isStopping: () => it.isStopping,
    onFault: (cause) => faults.push(cause),
  });
  return it;
}

const unavailable = async () => {
  throw new StateUnavailable("the state does not respond");
};

test("outcomes of one turn share a transaction, and so do those that arrive while it is stored", async () => {
  await using it = await openSettlements(6);
  const opened = Promise.withResolvers<void>();
  it.gate = () => opened.promise;
  const [a, b, c, d, e, f] = it.deliveries;
  const settled = [a, b].map((one) => it.settle(one));
  expect(it.groups).toEqual([]);
  await until(() => it.groups.length > 0);
  settled.push(...[c, d, e].map((one) => it.settle(one)));
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(it.groups).toEqual([2]);
  opened.resolve();
  await Promise.all(settled);
  expect(it.groups).toEqual([2, 3]);
  await it.settle(f);
  expect(it.groups).toEqual([2, 3, 1]);
  expect(await it.states()).toEqual(Array(6).fill("delivered"));
});

test("a failure is stored at once with what waits, since the next claim depends on it, and 128 are", async () => {
  await using it = await openSettlements(131);
  const [a, b, c, ...rest] = it.deliveries;
  const settled = [it.settle(a), it.settle(b, { kind: "failed" })];
  expect(it.groups).toEqual([2]);
  expect(await Promise.all(settled)).toEqual([undefined, undefined]);
  // It resolves with the reason of a deactivation.
  expect(await it.settle(c, { kind: "failed" })).toContain("2 deliveries in a row failed");
  const many = rest.map((one) => it.settle(one));
  expect(it.groups).toEqual([2, 1, 128]);
  await Promise.all(many);
});

test("while the state does not respond an outcome is stored again, within its lease and until the engine stops", async () => {
  await using it = await openSettlements(3);
  const [a, b, c] = it.deliveries;
  it.gate = unavailable;
  const first = it.settle(a);
  for (let tries = 1; tries <= 3; tries += 1) {
    await until(() => it.faults.length === tries);
    expect(it.groups).toHaveLength(tries);
    if (tries === 3) it.gate = async () => {};
    it.bench.time.advanceMs(250);
  }
  expect(await first).toBeUndefined();
  expect(await it.states()).toEqual(["delivered", "queued", "queued"]);

  it.gate = unavailable;
  const second = it.settle(b);
  await until(() => it.faults.length === 4);
  it.bench.time.advanceMs(LEASE_MS - 750);
  await expect(second).rejects.toThrow("the state does not respond");
  expect(it.faults).toHaveLength(4);

  it.bench.time.advanceMs(-1_000);
  it.isStopping = true;
  await expect(it.settle(c)).rejects.toThrow("the state does not respond");
  expect(it.faults).toHaveLength(4);
});

test("a fault of the node is not repeated", async () => {
  await using it = await openSettlements(1);
  it.gate = async () => {
    throw new Error("disk I/O error");
  };
  await expect(it.settle(it.deliveries[0])).rejects.toThrow("disk I/O error");
  expect([it.groups, it.faults]).toEqual([[1], []]);
});
