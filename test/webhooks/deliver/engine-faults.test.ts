import { expect, test } from "bun:test";
import { StateUnavailable } from "../../../src/db/state/unavailable.ts";
import { openDeliveryBench } from "../../support/deliveries.ts";
import { loopbackClient } from "../../support/loopback-client.ts";
import { until } from "../../support/manual-time.ts";
import { startReceiver } from "../../support/receiver.ts";

const never = () => new Promise<Response>(() => undefined);
const unavailable = () => Promise.reject(new StateUnavailable("the state does not respond"));

async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test("starts while the state is unavailable, and polls again after five seconds", async () => {
  await using bench = openDeliveryBench();
  await using receiver = startReceiver();
  const hook = await bench.addWebhook("a", receiver.port);
  await bench.queue([hook], "{}");
  let polls = 0;
  await bench.start({
    watch: (queue) => ({
      dueWebhooks(...args) {
        polls += 1;
        return polls === 1 ? unavailable() : queue.dueWebhooks(...args);
      },
    }),
  });
  bench.time.advanceMs(4_999);
  await turns();
  expect([polls, receiver.requests.length]).toEqual([1, 0]);
  bench.time.advanceMs(1);
  await bench.settled(hook, 1);
});

test("a poll continues after a second while webhooks remain, also after the first one", async () => {
  await using bench = openDeliveryBench();
  let pages = 0;
  await bench.start({
    // There is always one more page.
    watch: () => ({ dueWebhooks: async (after) => ({ webhooks: [], last: after + ++pages }) }),
  });
  for (const polled of [20, 40, 60]) {
    expect(pages).toBe(polled);
    bench.time.advanceMs(999);
    await turns();
    expect(pages).toBe(polled);
    bench.time.advanceMs(1);
    await until(() => pages >= polled + 20);
    await turns();
  }
});

test("a fault of a call frees its slot, and the delivery is sent after its lease", async () => {
  await using bench = openDeliveryBench();
  await using receiver = startReceiver();
  const hook = await bench.addWebhook("a", receiver.port);
  const client = loopbackClient();
  let faults = 0;
  const running = await bench.start({
    client: {
      ...client,
      request(request) {
        faults += 1;
        return faults === 1 ? Promise.reject(new Error("out of memory")) : client.request(request);
      },
    },
  });
  await bench.publish([hook], "0");
  await until(async () => faults === 1 && (await running.stats()).inFlight === 0);
  await bench.publish([hook], "1");
  await bench.settled(hook, 1);
  expect(receiver.requests.map(({ body }) => body)).toEqual(["1"]);
  bench.time.advanceMs(60_000);
  await bench.settled(hook, 2);
});

test("calls go on while outcomes wait to be stored, until 256 wait", async () => {
  await using bench = openDeliveryBench();
  await using receiver = startReceiver();
  const hook = await bench.addWebhook("a", receiver.port);
  const opened = Promise.withResolvers<void>();
  const running = await bench.start({
    watch: (queue) => ({
      async settle(...args) {
        await opened.promise;
        return queue.settle(...args);
      },
    }),
  });
  await bench.publish([hook], ...Array.from({ length: 400 }, (_, n) => `${n}`));
  await until(async () => receiver.requests.length >= 256 && (await running.stats()).inFlight === 0);
  // At most four calls were in flight when the limit was reached.
  expect(receiver.requests.length).toBeLessThan(260);
  opened.resolve();
  await bench.settled(hook, 400);
  expect(receiver.requests).toHaveLength(400);
});

test("a webhook that responds quickly gets further calls while one is in flight", async () => {
  await using bench = openDeliveryBench();
  let isHanging = false;
  await using receiver = startReceiver({ respond: () => (isHanging ? never() : new Response("ok")) });
  const hook = await bench.addWebhook("a", receiver.port);
  await bench.start();
  for (let call = 1; call <= 6; call += 1) {
    await bench.publish([hook], `${call}`);
    await bench.settled(hook, call);
  }
  isHanging = true;
  await bench.publish([hook], "a", "b", "c", "d");
  await until(() => receiver.requests.length === 10);
});

test("sleeps until the next delivery is due", async () => {
  await using bench = openDeliveryBench();
  await using receiver = startReceiver({ respond: () => new Response("", { status: 503 }) });
  const hook = await bench.addWebhook("a", receiver.port);
  await bench.start();
  await bench.publish([hook], "{}");
  await until(async () => (await bench.list(hook))[0]?.attempts.length === 1);
  await turns();
  // After the call's own duration.
  expect(bench.time.nextInMs).toBeGreaterThanOrEqual(500);
});

test("an outcome is stored again after a quarter of a second while the state is unavailable; stop ends the wait", async () => {
  await using bench = openDeliveryBench();
  await using receiver = startReceiver();
  const hook = await bench.addWebhook("a", receiver.port);
  let tries = 0;
  await bench.start({
    watch: () => ({
      settle() {
        tries += 1;
        return unavailable();
      },
    }),
  });
  await bench.publish([hook], "{}");
  await until(() => tries === 1);
  await turns();
  bench.time.advanceMs(249);
  await turns();
  expect(tries).toBe(1);
  bench.time.advanceMs(1);
  await until(() => tries === 2);
  await turns();
  // Nobody advances the time.
  await bench.stop();
  await bench.start();
  bench.time.advanceMs(60_000);
  await bench.settled(hook, 1);
});

test("stop gives back what is claimed ahead, for the next process", async () => {
  await using bench = openDeliveryBench();
  let isHanging = false;
  await using receiver = startReceiver({ respond: () => (isHanging ? never() : new Response("ok")) });
  const hook = await bench.addWebhook("a", receiver.port);
  let claimed = 0;
  let undone = 0;
  await bench.start({
    watch: (queue) => ({
      async claim(request) {
        const found = await queue.claim(request);
        claimed += found?.deliveries.length ?? 0;
        return found;
      },
      unclaim(deliveries) {
        undone += deliveries.length;
        return queue.unclaim(deliveries);
      },
    }),
  });
  for (let call = 1; call <= 6; call += 1) {
    await bench.publish([hook], `${call}`);
    await bench.settled(hook, call);
  }
  isHanging = true;
  await bench.publish([hook], ...Array.from({ length: 20 }, (_, n) => `more ${n}`));
  await until(() => receiver.requests.length === 10);
  await bench.stop();
  expect(undone).toBeGreaterThan(0);
  expect(claimed - undone).toBe(receiver.requests.length);
});

test("stop leaves no timer, so that the process ends before the grace period is over", async () => {
  await using bench = openDeliveryBench();
  const running = await bench.start();
  await running.stop(60_000);
  expect(bench.time.pending).toBe(0);
});

test("stop waits for a poll", async () => {
  await using bench = openDeliveryBench();
  const opened = Promise.withResolvers<void>();
  let polls = 0;
  await bench.start({
    watch: (queue) => ({
      async endLeasesOfTheDead(...args) {
        polls += 1;
        if (polls > 1) await opened.promise;
        return queue.endLeasesOfTheDead(...args);
      },
    }),
  });
  bench.time.advanceMs(30_000);
  await until(() => polls === 2);
  let isStopped = false;
  const stopped = bench.stop().then(() => {
    isStopped = true;
  });
  await turns();
  expect(isStopped).toBe(false);
  opened.resolve();
  await stopped;
});
