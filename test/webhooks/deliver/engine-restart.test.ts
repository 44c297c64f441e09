import { describe, expect, test } from "bun:test";
import { createLocalStores } from "../../../src/node/state/sqlite-stores.ts";
import { createQueuePoll } from "../../../src/webhooks/deliver/queue-poll.ts";
import { openDeliveryBench } from "../../support/deliveries.ts";
import { silentLog } from "../../support/log.ts";
import { until } from "../../support/manual-time.ts";
import { startReceiver } from "../../support/receiver.ts";
import { localStores } from "../../support/state-stores.ts";

const never = () => new Promise<Response>(() => undefined);
const bodiesOf = (receiver: { requests: readonly { body: string }[] }) =>
  receiver.requests.map(({ body }) => body);

describe("after the end of a process", () => {
  test("the next process sends at once what a killed one had claimed", async () => {
    await using bench = openDeliveryBench();
    await using receiver = startReceiver();
    const hook = await bench.addWebhook("a", receiver.port);
    await bench.publish([hook], '{"n":0}', '{"n":1}', '{"n":2}');
    const killed = createLocalStores(bench.state, { limits: { maxQueued: 9 }, clock: bench.time }).queue;
    const limit = { calls: 1000, windowMs: 60_000, maxWaitMs: 900_000 };
    const nowMs = bench.time.nowMs();
    for (let n = 0; n < 2; n += 1) {
      await killed.claim({
        webhookId: hook,
        nowMs,
        leaseEndsAtMs: nowMs + 40_000,
        maxRetryDelayMs: 3_600_000,
        limit,
        max: 1,
        maxHoldMs: 0,
      });
    }
    await bench.start();
    await bench.settled(hook, 3);
    expect(bodiesOf(receiver).sort()).toEqual(['{"n":0}', '{"n":1}', '{"n":2}']);
  });

  test("a delivery whose claim got no response is not sent before its lease expires", async () => {
    await using bench = openDeliveryBench();
    await using receiver = startReceiver();
    const hook = await bench.addWebhook("a", receiver.port);
    const running = await bench.start();
    await bench.queue([hook], '{"n":0}');
    const nowMs = bench.time.nowMs();
    const limit = { calls: 1000, windowMs: 60_000, maxWaitMs: 900_000 };
    const { queue } = localStores(bench.state);
    await queue.claim({
      webhookId: hook,
      nowMs,
      leaseEndsAtMs: nowMs + 40_000,
      maxRetryDelayMs: 3_600_000,
      limit,
      max: 1,
      maxHoldMs: 0,
    });
    await bench.publish([hook], '{"n":1}');
    await running.wake(hook);
    await bench.settled(hook, 1);
    bench.time.advanceMs(39_000);
    await bench.publish([hook], '{"n":2}');
    await bench.settled(hook, 2);
    bench.time.advanceMs(2_000);
    await bench.settled(hook, 3);
    expect(bodiesOf(receiver)).toEqual(['{"n":1}', '{"n":2}', '{"n":0}']);
  });

  test("a poll finds deliveries without a wake call", async () => {
    await using bench = openDeliveryBench();
    await using receiver = startReceiver();
    const hook = await bench.addWebhook("a", receiver.port);
    await bench.start();
    await bench.queue([hook], "{}");
    bench.time.advanceMs(60_000);
    await bench.settled(hook, 1);
  });

  test("a poll that has read all webhooks is followed by the next after the poll interval", async () => {
    await using bench = openDeliveryBench();
    let polls = 0;
    await bench.start({
      watch: (queue) => ({
        dueWebhooks: (...args) => {
          polls += 1;
          return queue.dueWebhooks(...args);
        },
      }),
    });
    expect(polls).toBe(1);
    for (const [ms, count] of [
      [29_999, 1],
      [1, 2],
      [29_999, 2],
      [1, 3],
    ] as const) {
      bench.time.advanceMs(ms);
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      expect([ms, polls]).toEqual([ms, count]);
    }
  });

  test("a poll that ends after stop is followed by no other", async () => {
    await using bench = openDeliveryBench();
    const polled = Promise.withResolvers<void>();
    let polls = 0;
    await bench.start({
      watch: (queue) => ({
        async dueWebhooks(...args) {
          polls += 1;
          if (polls > 1) await polled.promise;
          return queue.dueWebhooks(...args);
        },
      }),
    });
    bench.time.advanceMs(30_000);
    await until(() => polls === 2);
    const stopped = bench.stop();
    polled.resolve();
    await stopped;
    expect(bench.time.pending).toBe(0);
  });

  test("a fault of the first poll that is not an absent state ends the start", async () => {
    await using bench = openDeliveryBench();
    const watch = () => ({
      dueWebhooks: () => Promise.reject(new Error("no such column")),
    });
    await expect(bench.start({ watch })).rejects.toThrow("no such column");
  });

  test("a delivery that cannot be claimed is claimed again after five seconds", async () => {
    await using bench = openDeliveryBench();
    await using receiver = startReceiver();
    const hook = await bench.addWebhook("a", receiver.port);
    await bench.start();
    await bench.queue([hook], "{}");
    bench.state.sqlite.exec("PRAGMA query_only = ON");
    bench.time.advanceMs(30_000);
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    bench.state.sqlite.exec("PRAGMA query_only = OFF");
    bench.time.advanceMs(4_999);
    expect(receiver.requests).toHaveLength(0);
    bench.time.advanceMs(1);
    await bench.settled(hook, 1);
  });

  test("a poll reads 20 pages of webhooks, and continues after a second", async () => {
    const pages = Array.from({ length: 25 }, (_, page) => [
      { webhookId: `early ${page}`, dueAtMs: 60_000, isFailing: false },
      { webhookId: `next ${page}`, dueAtMs: 60_001, isFailing: false },
      { webhookId: `later ${page}`, dueAtMs: 3_630_000, isFailing: false },
      { webhookId: `far ${page}`, dueAtMs: 3_630_001, isFailing: false },
    ]);
    const due: (string | number)[][] = [];
    const poll = createQueuePoll({
      queue: {
        endLeasesOfTheDead: async () => 0,
        dueWebhooks: async (after) => ({
          webhooks: pages[after] ?? [],
          last: after < pages.length - 1 ? after + 1 : undefined,
        }),
      },
      clock: { nowMs: () => 30_000 },
      log: silentLog,
      settings: { maxRetryDelayMs: 3_600_000, pollIntervalMs: 30_000 },
      isStopping: () => false,
      onDue: (webhooks) => due.push(...webhooks.map(({ webhookId, dueAtMs }) => [webhookId, dueAtMs])),
    });
    const of = (from: number, to: number) =>
      pages.slice(from, to).flatMap((_, at) => [
        [`early ${from + at}`, 60_000],
        // It was scheduled before the clock went back.
        [`far ${from + at}`, 30_000],
      ]);
    expect(await poll()).toBe(true);
    expect(due.splice(0)).toEqual(of(0, 20));
    expect(await poll()).toBe(false);
    expect(due.splice(0)).toEqual(of(20, 25));
    expect(await poll()).toBe(true);
    expect(due).toEqual(of(0, 20));
  });

  test("stop waits for the response of a call in flight", async () => {
    await using bench = openDeliveryBench();
    const gate = Promise.withResolvers<Response>();
    await using receiver = startReceiver({ respond: () => gate.promise });
    const hook = await bench.addWebhook("a", receiver.port);
    const running = await bench.start();
    await bench.publish([hook], "{}", "{}");
    await until(() => receiver.requests.length === 1);
    const stopped = running.stop(1_000);
    gate.resolve(new Response("ok"));
    await stopped;
    expect((await bench.list(hook)).map(({ state }) => state).sort()).toEqual(["delivered", "queued"]);
    expect(receiver.requests).toHaveLength(1);
  });

  test("stop aborts a call after the grace period; it is repeated after the next start", async () => {
    await using bench = openDeliveryBench();
    let isHanging = true;
    await using receiver = startReceiver({ respond: () => (isHanging ? never() : new Response("ok")) });
    const hook = await bench.addWebhook("a", receiver.port);
    await bench.start();
    await bench.publish([hook], "{}");
    await until(() => receiver.requests.length === 1);
    await bench.stop(1_000);
    expect(await bench.list(hook)).toMatchObject([{ state: "queued", attempts: [] }]);
    isHanging = false;
    await bench.start();
    await bench.settled(hook, 1);
    const ids = receiver.requests.map(({ headers }) => headers.get("webhook-id"));
    expect(ids).toEqual([ids[0] ?? "", ids[0] ?? ""]);
  });
});
