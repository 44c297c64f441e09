import { expect, test } from "bun:test";
import type { SendPermission } from "../../../src/push/fan-out/slots.ts";
import { until } from "../../support/manual-time.ts";
import { allServed, startPushClient } from "../../support/push-client.ts";
import { localStores } from "../../support/state-stores.ts";
import { type Stores, useRuns } from "./fixture.ts";

/** When campaigns are taken, and how much runs at a time. */

const runs = useRuns();
const { startEngine, store, addTokens, found } = runs;

test("takes no campaign while it may not send, nor after it has stopped", async () => {
  await using client = startPushClient();
  addTokens(client, 1);
  await store();
  let permission: SendPermission = "isolated";
  const engine = await startEngine({ permission: () => permission });
  const askedToRun = async () => {
    void engine.run("c");
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    return (await found())?.status;
  };
  expect(await askedToRun()).toBe("queued");
  permission = "paused";
  expect(await askedToRun()).toBe("queued");
  permission = "granted";
  await engine.stop(0);
  expect(await askedToRun()).toBe("queued");
  expect(client.requests).toEqual([]);
});

test("looks for scheduled sends only while it may send, and no more after it has stopped", async () => {
  const stores = localStores(runs.state, { clock: runs.clock });
  let looks = 0;
  const schedules: Stores["schedules"] = {
    ...stores.schedules,
    due(...args) {
      looks += 1;
      return stores.schedules.due(...args);
    },
  };
  let permission: SendPermission = "paused";
  const engine = await startEngine({ stores: { ...stores, schedules }, permission: () => permission });
  const isLooking = async () => {
    looks = 0;
    await engine.wake();
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    return looks > 0;
  };
  expect(await isLooking()).toBe(false);
  permission = "granted";
  expect(await isLooking()).toBe(true);
  await engine.stop(0);
  expect(await isLooking()).toBe(false);
});

test("the end of a campaign makes room for one that waits for the limit of its app", async () => {
  const stores = localStores(runs.state, { clock: runs.clock });
  const ends = Promise.withResolvers<void>();
  let looks = 0;
  const campaigns: Stores["campaigns"] = {
    ...stores.campaigns,
    take(...args) {
      looks += 1;
      return stores.campaigns.take(...args);
    },
    async end(...args) {
      await ends.promise;
      return stores.campaigns.end(...args);
    },
  };
  const ids = Array.from({ length: 9 }, (_, at) => `c${at}`);
  for (const id of ids) await store(undefined, id);
  const engine = await startEngine({ stores: { ...stores, campaigns } });
  const running = ids.slice(0, 8).map((id) => engine.run(id));
  await until(async () => (await engine.stats()).campaignsRunning === 8);
  const before = looks;
  ends.resolve();
  await Promise.all(running);
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  // Each of the eight ends looks at once, some together; the timer looks once a second.
  expect(looks).toBeGreaterThan(before);
  await engine.run("c8");
  await engine.stop(0);
});

test("reports how many campaigns no node runs, and the age of the oldest; null while the state does not respond", async () => {
  const stores = localStores(runs.state, { clock: runs.clock });
  let responds = true;
  const campaigns: Stores["campaigns"] = {
    ...stores.campaigns,
    waiting: () => (responds ? stores.campaigns.waiting() : new Promise(() => undefined)),
  };
  const engine = await startEngine({ stores: { ...stores, campaigns }, permission: () => "paused" });
  const queued = async () => {
    const { campaignsRunning, campaignsQueued, oldestQueuedSecs } = await engine.stats();
    return [campaignsRunning, campaignsQueued, oldestQueuedSecs];
  };
  expect(await queued()).toEqual([0, 0, 0]);
  await store();
  await store(undefined, "d");
  runs.clock.advanceSecs(7);
  expect(await queued()).toEqual([0, 2, 7]);
  // The clock of this machine is behind that of the one that has stored them.
  runs.clock.advanceSecs(-10);
  expect(await queued()).toEqual([0, 2, 0]);
  responds = false;
  expect(await queued()).toEqual([0, null, null]);
  await engine.stop(0);
});

test("a campaign waits twice as long after each further fault", async () => {
  const stores = localStores(runs.state, { clock: runs.clock });
  const delays: number[] = [];
  const campaigns: Stores["campaigns"] = {
    ...stores.campaigns,
    end: () => Promise.reject(new Error("a fault")),
    async release(work, delayMs) {
      delays.push(delayMs);
      // Due at once, so that the test need not wait.
      await stores.campaigns.release(work, 0);
    },
  };
  await store();
  const engine = await startEngine({ stores: { ...stores, campaigns }, rerunAfterMs: 1_000 });
  void engine.run("c");
  while (delays.length < 3) {
    await engine.wake();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await engine.stop(0);
  expect(delays.slice(0, 3)).toEqual([1_000, 2_000, 4_000]);
});

test("sends several batches of a host at once", async () => {
  const together = Promise.withResolvers<void>();
  await using client = startPushClient(async (request, nth) => {
    if (nth === 3) together.resolve();
    await together.promise;
    return allServed(request, nth);
  });
  addTokens(client, 400);
  await store();
  const engine = await startEngine();
  await engine.run("c");
  expect(client.mostAtATime).toBe(4);
  await engine.stop(0);
});

test("starts no further batches of a host while eight wait for a retry", async () => {
  await using client = startPushClient(() => new Response("", { status: 429 }));
  addTokens(client, 3_000);
  await store();
  const engine = await startEngine({ backoffMs: 3_600_000 });
  void engine.run("c");
  let idleTurns = 0;
  await until(async () => {
    const { inFlight, waiting } = await engine.stats();
    idleTurns = inFlight === 0 && waiting === 0 && client.requests.length >= 8 ? idleTurns + 1 : 0;
    return idleTurns === 50;
  });
  // Up to three more were already in flight.
  expect(client.requests.length).toBeLessThan(12);
  await engine.stop(0);
});
