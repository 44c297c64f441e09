import { expect, test } from "bun:test";
import type { SendPermission } from "../../../src/push/fan-out/slots.ts";
import { takeCampaign } from "../../support/campaigns.ts";
import { until } from "../../support/manual-time.ts";
import { allServed, nested, startPushClient } from "../../support/push-client.ts";
import { APP_ID } from "../../support/send.ts";
import { localStores } from "../../support/state-stores.ts";
import { DAY_SECS, START, type Stores, useRuns } from "./fixture.ts";

/** What a campaign keeps when its process stops, loses its lease or meets a fault. */

const runs = useRuns();
const { startEngine, store, addTokens, found } = runs;

test("stop aborts calls after the grace period, and the next process resumes the campaign", async () => {
  const hangs = Promise.withResolvers<void>();
  let isWell = false;
  await using client = startPushClient((request, nth) => {
    if (isWell || nth < 2) return allServed(request, nth);
    hangs.resolve();
    return new Promise(() => undefined);
  });
  addTokens(client, 1_000);
  await store({ targetFids: [], excludeFids: [10], followingFid: null });
  const faults: string[] = [];
  const resumptions: string[] = [];
  const noteResumption = (line: string) => line.includes("Resumed") && resumptions.push(line);
  const first = await startEngine({
    timeoutMs: 60_000,
    rerunAfterMs: 3_600_000,
    onLog(line) {
      if (line.includes("interrupted")) faults.push(line);
      noteResumption(line);
    },
  });
  let hasEnded = false;
  void first.run("c").then(() => {
    hasEnded = true;
  });
  await hangs.promise;
  // A response that arrives after the stop would be repeated.
  await until(async () => (await found())?.counts.success === 200);
  await first.stop(20);
  expect([hasEnded, faults, resumptions]).toEqual([false, [], []]);
  expect(await found()).toMatchObject({
    status: "running",
    counts: { success: 200, failure: 0, notAttempted: 1 },
  });

  isWell = true;
  const second = await startEngine({ onLog: noteResumption });
  await second.run("c");
  expect(await found()).toMatchObject({
    status: "completed",
    counts: { success: 999, failure: 0, notAttempted: 1 },
  });
  expect(Math.max(...client.shown.values())).toBe(1);
  expect(client.shown.size).toBe(999);
  expect(resumptions).toHaveLength(1);
  await second.stop(0);
});

test("a slot posts its next batch only after the outcome of the one before it is stored", async () => {
  let stored = 0;
  const unstored: number[] = [];
  await using client = startPushClient((request, nth) => {
    unstored.push(nth + 1 - stored);
    return allServed(request, nth);
  });
  addTokens(client, 1_000);
  await store();
  const stores = localStores(runs.state, { clock: runs.clock });
  const ledger: Stores["ledger"] = {
    ...stores.ledger,
    async record(...args) {
      // Time enough for another call to arrive.
      for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
      await stores.ledger.record(...args);
      stored += 1;
    },
  };
  const engine = await startEngine({ settings: ["send.send_concurrency=1"], stores: { ...stores, ledger } });
  await engine.run("c");
  expect(unstored).toEqual(Array.from({ length: 10 }, () => 1));
  await engine.stop(0);
});

test("posts nothing that it has claimed under a lease that it has lost", async () => {
  await using client = startPushClient();
  addTokens(client, 300);
  await store();
  const stores = localStores(runs.state, { clock: runs.clock });
  let permission: SendPermission = "granted";
  let leaseNumber = 0;
  const claimed = Promise.withResolvers<void>();
  const ledger: Stores["ledger"] = {
    ...stores.ledger,
    async claim(...args) {
      const result = await stores.ledger.claim(...args);
      // As a process that stalls between its claim and its call.
      permission = "isolated";
      claimed.resolve();
      return result;
    },
  };
  const lost = Promise.withResolvers<void>();
  const engine = await startEngine({
    stores: { ...stores, ledger },
    permission: () => permission,
    leaseNumber: () => leaseNumber,
    onLog: (line) => line.includes("taken over") && lost.resolve(),
  });
  void engine.run("c");
  await claimed.promise;
  await takeCampaign(stores.campaigns, "c");
  leaseNumber += 1;
  permission = "granted";
  await lost.promise;
  expect(client.requests).toEqual([]);
  expect((await engine.stats()).campaignsRunning).toBe(0);
  await engine.stop(0);
});

test("counts calls that finish within the grace period", async () => {
  const gate = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  await using client = startPushClient(async (request, nth) => {
    arrived.resolve();
    await gate.promise;
    return allServed(request, nth);
  });
  addTokens(client, 1);
  await store();
  const engine = await startEngine({ timeoutMs: 60_000 });
  void engine.run("c");
  await arrived.promise;
  const stopped = engine.stop(10_000);
  gate.resolve();
  await stopped;
  expect((await found())?.counts).toEqual({ success: 1, failure: 0, notAttempted: 0 });
});

test("aborts an unfinished campaign whose ledger has expired", async () => {
  await using client = startPushClient();
  addTokens(client, 1);
  await store();
  await takeCampaign(localStores(runs.state).campaigns, "c");
  runs.clock.advanceSecs(DAY_SECS);
  const engine = await startEngine();
  await engine.run("c");
  expect(await found()).toMatchObject({ status: "aborted", counts: { success: 0 } });
  expect(client.requests).toEqual([]);
  await engine.stop(0);
});

test.each([
  ["the others", [10], [["t1"]], { success: 1, failure: 1, notAttempted: 0 }],
  ["none, and calls nothing without tokens", [10, 11], [], { success: 0, failure: 2, notAttempted: 0 }],
])(
  "of tokens that another campaign has claimed after the lease expired, retries %s",
  async (_, taken, retries, counts) => {
    const campaigns = localStores(runs.state).campaigns;
    await using client = startPushClient(async (request, nth) => {
      if (nth > 0) return allServed(request, nth);
      runs.clock.advanceSecs(60);
      await store({ targetFids: [], excludeFids: [], followingFid: null }, "d");
      const other = await takeCampaign(campaigns, "d", {
        nowSecs: START,
        running: [{ seq: 1, appId: APP_ID }],
      });
      const keys = taken.map((fid) => ({ fid, clientFid: 9152 }));
      await localStores(runs.state).ledger.claim(other, keys, 30);
      return new Response("", { status: 500 });
    });
    addTokens(client, 2);
    await store();
    const engine = await startEngine();
    await engine.run("c");
    expect(client.requests.map(({ tokens }) => tokens)).toEqual([["t0", "t1"], ...retries]);
    expect((await found())?.counts).toEqual(counts);
    const { byReason } = await campaigns.breakdown("c", 1);
    expect(byReason).toContainEqual({ kind: "failure", reason: "claimed_by_another", count: taken.length });
    await engine.stop(0);
  },
);

test("resumes a campaign after a fault of the database and counts every token once", async () => {
  await using client = startPushClient(({ tokens }, nth) => {
    // Like a full disk, this fails the next write.
    if (nth === 2) runs.state.sqlite.run("ALTER TABLE campaign_counts RENAME TO away");
    return nested({ successful: tokens.filter((token) => token !== "t5"), rateLimited: ["t5"] });
  });
  addTokens(client, 1_000);
  await store();
  const interrupted = Promise.withResolvers<void>();
  const engine = await startEngine({
    onLog: (line) => line.includes("was interrupted") && interrupted.resolve(),
  });
  const ended = engine.run("c");
  await interrupted.promise;
  runs.state.sqlite.run("ALTER TABLE away RENAME TO campaign_counts");
  await ended;
  expect(await found()).toMatchObject({
    status: "completed",
    counts: { success: 999, failure: 1, notAttempted: 0 },
  });
  await engine.stop(0);
});

test("a page that cannot be claimed while another is sent interrupts the run; what has arrived counts", async () => {
  const stores = localStores(runs.state, { clock: runs.clock });
  const failed = Promise.withResolvers<void>();
  let claims = 0;
  const ledger: Stores["ledger"] = {
    ...stores.ledger,
    async claim(...args) {
      claims += 1;
      if (claims !== 2) return stores.ledger.claim(...args);
      failed.resolve();
      throw new Error("a fault");
    },
  };
  await using client = startPushClient(async (request, nth) => {
    await failed.promise;
    return allServed(request, nth);
  });
  addTokens(client, 1_500);
  await store();
  const engine = await startEngine({ stores: { ...stores, ledger } });
  await engine.run("c");
  expect(claims).toBeGreaterThan(2);
  expect(await found()).toMatchObject({
    status: "completed",
    counts: { success: 1_500, failure: 0, notAttempted: 0 },
  });
  expect(Math.max(...client.shown.values())).toBe(1);
  await engine.stop(0);
});
