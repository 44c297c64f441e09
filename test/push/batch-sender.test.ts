import { afterEach, beforeEach, expect, test } from "bun:test";
import { openState, type StateDatabase, statePath } from "../../src/db/state/database.ts";
import { StateUnavailable } from "../../src/db/state/unavailable.ts";
import { createBatchSender, type HostProgress } from "../../src/push/fan-out/batch-sender.ts";
import { DEFAULT_CIRCUIT_BREAKER } from "../../src/push/fan-out/circuit-breaker.ts";
import { createPostBatch } from "../../src/push/fan-out/post-batch.ts";
import { SendCounters } from "../../src/push/fan-out/send-stats.ts";
import { createSlots, type SendPermission } from "../../src/push/fan-out/slots.ts";
import type { LiveToken } from "../../src/push/store/tokens/token-store.ts";
import { takeCampaign } from "../support/campaigns.ts";
import { ManualClock } from "../support/clock.ts";
import { loopbackClient } from "../support/loopback-client.ts";
import { tempDir } from "../support/program.ts";
import { nested, type PushScript, startPushClient } from "../support/push-client.ts";
import { APP_ID, testApp } from "../support/send.ts";
import { localStores } from "../support/state-stores.ts";

const START = 1_000_000;
const DAY_SECS = 86_400;
const HOST = "c.example";

let dir: ReturnType<typeof tempDir>;
let state: StateDatabase;
let clock: ManualClock;
beforeEach(async () => {
  dir = tempDir();
  state = openState(statePath(dir.path));
  clock = new ManualClock(START);
  await localStores(state, { clock }).apps.create(testApp(), 10);
});
afterEach(() => {
  state[Symbol.dispose]();
  dir[Symbol.dispose]();
});

interface SenderOptions {
  readonly script?: PushScript;
  readonly timeoutMs?: number;
  readonly ledgerSecs?: number;
  readonly permission?: () => SendPermission;
  /** Called before the app is looked up. */
  readonly onLookUp?: () => void;
  /** Called before each write of the ledger. */
  readonly onWrite?: (write: "claim" | "record" | "setNotAttempted", secs: number | undefined) => void;
}

/** A sender of one campaign to a client, and what it asks of the ledger. */
async function startSender(options: SenderOptions = {}) {
  const { script, timeoutMs = 10_000, ledgerSecs = DAY_SECS } = options;
  const { permission = () => "granted", onLookUp = () => {}, onWrite = () => {} } = options;
  const client = startPushClient(script);
  const { apps, campaigns, ledger, tokens } = localStores(state, { clock });
  await campaigns.create(
    {
      campaignId: "c",
      appId: APP_ID,
      notification: { notificationId: "n", title: "T", body: "B", targetUrl: "https://app.example" },
      audience: { targetFids: [], excludeFids: [], followingFid: null },
      createdAt: START,
      ledgerSecs,
    },
    10,
  );
  const work = await takeCampaign(campaigns, "c", { nowSecs: START });
  const slots = createSlots({ total: 8, breakerSettings: DEFAULT_CIRCUIT_BREAKER });
  const stop = new AbortController();
  const sender = createBatchSender(
    {
      apps: {
        async find(appId, nowSecs) {
          onLookUp();
          return apps.find(appId, nowSecs);
        },
      },
      tokens,
      ledger: {
        claim(run, claimed, secs) {
          onWrite("claim", secs);
          return ledger.claim(run, claimed, secs);
        },
        async record(run, host, results, secs) {
          onWrite("record", secs);
          await ledger.record(run, host, results, secs);
        },
        async setNotAttempted(run, host, totals) {
          onWrite("setNotAttempted", undefined);
          await ledger.setNotAttempted(run, host, totals);
        },
      },
      post: createPostBatch({ client: loopbackClient(), clock, timeoutMs: 10_000, userAgent: "test" }),
      slots,
      stats: new SendCounters(),
      openLinks: async ({ notification }) => notification.targetUrl,
      clock,
      permission,
      leaseNumber: () => 0,
      monotonicMs: () => clock.nowMs(),
      settings: { dedupeTtlSecs: DAY_SECS, timeoutMs, maxAttempts: 3, backoffMs: 1 },
      onResults: () => {},
    },
    work,
    { stop: stop.signal, cancelCalls: new AbortController().signal },
  );
  const url = `http://${HOST}:${client.port}/n`;
  const batch: LiveToken[] = [10, 11].map((fid) => ({
    appId: APP_ID,
    fid,
    clientFid: 1,
    details: { url, host: HOST, token: `t${fid}` },
  }));
  const progress: HostProgress = { retriesWaiting: 0, notAttempted: {} };
  return {
    client,
    sender,
    slots,
    stop,
    progress,
    claim: () => sender.claim(HOST, batch, progress),
    async send({ tokens, lease }: Awaited<ReturnType<typeof sender.claim>>) {
      const slot = await slots.acquire({ campaign: "c", host: HOST, signal: stop.signal });
      await sender.send(HOST, { url, tokens, lease }, slot, progress);
    },
    counts: async () => (await campaigns.find("c"))?.counts,
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

test.each([
  [1_000, 30],
  [10_000, 30],
  [10_001, 31],
  [60_000, 80],
])("with calls of at most %i ms, tokens are claimed for %i s", async (timeoutMs, secs) => {
  const claimedFor: unknown[] = [];
  await using fixture = await startSender({ timeoutMs, onWrite: (_, secs) => claimedFor.push(secs) });
  await fixture.claim();
  expect(claimedFor).toEqual([secs]);
});

test.each([
  [19, 1],
  [20, 2],
])(
  "tokens that have waited for %i s since their claim are claimed %i times: it lasts until the call has ended",
  async (waitSecs, expected) => {
    const writes: string[] = [];
    await using fixture = await startSender({ onWrite: (write) => writes.push(write) });
    const claimed = await fixture.claim();
    clock.advanceSecs(waitSecs);
    await fixture.send(claimed);
    expect(writes).toEqual([...Array.from({ length: expected }, () => "claim"), "record"]);
    expect(await fixture.counts()).toEqual({ success: 2, failure: 0, notAttempted: 0 });
  },
);

test.each([
  ["at least as long as a notification may not be repeated", 60, DAY_SECS],
  ["until the last wave of a schedule has been sent", 10 * DAY_SECS, 10 * DAY_SECS - 100],
])("a success is remembered %s", async (_, ledgerSecs, expected) => {
  const remembered: unknown[] = [];
  await using fixture = await startSender({
    ledgerSecs,
    onWrite: (write, secs) => write === "record" && remembered.push(secs),
  });
  clock.advanceSecs(100);
  await fixture.send(await fixture.claim());
  expect(remembered).toHaveLength(1);
  // The sender computes it when it starts.
  expect([expected, expected + 100]).toContain(remembered[0] as number);
});

test("repeats each access until the state responds, and calls the client once", async () => {
  const failures = new Map<string, number>();
  const failTwice = (access: string) => {
    const before = failures.get(access) ?? 0;
    failures.set(access, before + 1);
    if (before < 2) throw new StateUnavailable("away");
  };
  await using fixture = await startSender({ onLookUp: () => failTwice("look-up"), onWrite: failTwice });
  await fixture.sender.countNotAttempted(HOST, { excluded: 3 }, fixture.progress);
  await fixture.send(await fixture.claim());
  expect([...failures.values()]).toEqual([3, 3, 3, 3]);
  expect(fixture.client.requests).toHaveLength(1);
  expect(await fixture.counts()).toEqual({ success: 2, failure: 0, notAttempted: 3 });
});

test("a write that fails for another reason than an absent state is not repeated", async () => {
  let writes = 0;
  await using fixture = await startSender({
    onWrite() {
      writes += 1;
      throw new Error("a bug");
    },
  });
  await expect(fixture.claim()).rejects.toThrow("a bug");
  expect(writes).toBe(1);
});

test("a call starts only while it is permitted, even if the permission ends during the look-up of the app", async () => {
  let state: SendPermission = "granted";
  let lookUps = 0;
  const atCalls: SendPermission[] = [];
  await using fixture = await startSender({
    permission() {
      const now = state;
      if (lookUps > 0 && now === "paused") state = "granted";
      return now;
    },
    onLookUp() {
      lookUps += 1;
      if (lookUps === 1) state = "paused";
    },
    script({ tokens }) {
      atCalls.push(state);
      return nested({ successful: tokens });
    },
  });
  await fixture.send(await fixture.claim());
  // Once more after the pause, in which the app may have been deleted.
  expect([lookUps, atCalls]).toEqual([2, ["granted"]]);
});

test.each([
  ["", () => undefined],
  [
    " that fails because the state is away",
    () => {
      throw new StateUnavailable("away");
    },
  ],
])("no call starts once the run is stopped during the look-up of the app%s", async (_, lookUp) => {
  await using fixture = await startSender({
    onLookUp() {
      fixture.stop.abort(new Error("stopped"));
      lookUp();
    },
  });
  await expect(fixture.send(await fixture.claim())).rejects.toThrow("stopped");
  expect(fixture.client.requests).toHaveLength(0);
});

test("writes the numbers of tokens that it does not attempt as sums, and only those that have grown", async () => {
  let writes = 0;
  await using fixture = await startSender({ onWrite: () => (writes += 1) });
  const { sender, progress } = fixture;
  await sender.countNotAttempted(HOST, { excluded: 0, not_following: 0 }, progress);
  expect([writes, progress.notAttempted]).toEqual([0, {}]);
  await sender.countNotAttempted(HOST, { excluded: 2, not_following: 0 }, progress);
  await sender.countNotAttempted(HOST, { excluded: 3, not_following: 1 }, progress);
  expect([writes, progress.notAttempted]).toEqual([2, { excluded: 5, not_following: 1 }]);
  expect(await fixture.counts()).toMatchObject({ notAttempted: 6 });
});

test("a batch counts as waiting for a retry only between its calls", async () => {
  const waiting: number[] = [];
  await using fixture = await startSender({
    script: () => {
      waiting.push(fixture.progress.retriesWaiting);
      return new Response("", { status: 500 });
    },
  });
  await fixture.send(await fixture.claim());
  expect([waiting, fixture.progress.retriesWaiting]).toEqual([[0, 0, 0], 0]);
  expect(await fixture.counts()).toEqual({ success: 0, failure: 2, notAttempted: 0 });
  // The slots learn from each call that the client did not respond.
  expect(fixture.slots.stats()).toMatchObject({ inFlight: 0, hostsDown: 1 });
});

test("a response lets the client have one more call at a time", async () => {
  await using fixture = await startSender();
  await fixture.send(await fixture.claim());
  const signal = new AbortController().signal;
  for (let at = 0; at < 6; at++) void fixture.slots.acquire({ campaign: `c${at}`, host: HOST, signal });
  expect(fixture.slots.stats()).toMatchObject({ inFlight: 5, waiting: 1 });
});
