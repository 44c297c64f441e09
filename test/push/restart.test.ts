import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { type IndexDatabase, openIndexInMemory } from "../../src/db/index/database.ts";
import { openState, type StateDatabase, statePath } from "../../src/db/state/database.ts";
import { StateUnavailable } from "../../src/db/state/unavailable.ts";
import { createFanOut } from "../../src/node/compose/sending/fan-out.ts";
import type { SendPermission } from "../../src/push/fan-out/slots.ts";
import { allRetryableFids, createSendService } from "../../src/push/send-service.ts";
import { RunLost } from "../../src/push/store/campaigns/campaign-store.ts";
import type { Spans } from "../../src/runtime/trace/span.ts";
import { createSpans, type EndedSpan } from "../../src/runtime/trace/spans.ts";
import { configWith } from "../runtime/config.ts";
import { takeCampaign } from "../support/campaigns.ts";
import { ManualClock } from "../support/clock.ts";
import { logTo } from "../support/log.ts";
import { loopbackClient } from "../support/loopback-client.ts";
import { until } from "../support/manual-time.ts";
import { tempDir } from "../support/program.ts";
import { allServed, nested, type PushClient, startPushClient } from "../support/push-client.ts";
import { expectOk } from "../support/result.ts";
import { APP_ID, insertTokens, notification, testApp, testTimings } from "../support/send.ts";
import { localStores } from "../support/state-stores.ts";

const START = 1_000_000;
const DAY_SECS = 86_400;
const campaign = { campaignId: "c", appId: APP_ID };

interface EngineOptions {
  readonly timeoutMs?: number;
  readonly rerunAfterMs?: number;
  readonly backoffMs?: number;
  readonly onLog?: (line: string) => void;
  readonly settings?: readonly string[];
  readonly stores?: Stores;
  readonly permission?: () => SendPermission;
  readonly leaseNumber?: () => number;
  readonly spans?: Spans;
}

type Stores = ReturnType<typeof localStores>;

let dir: ReturnType<typeof tempDir>;
let state: StateDatabase;
let index: IndexDatabase;
let clock: ManualClock;
beforeEach(async () => {
  dir = tempDir();
  state = openState(statePath(dir.path));
  index = openIndexInMemory();
  clock = new ManualClock(START);
  await localStores(state, { clock }).apps.create(testApp(), 10);
});
afterEach(() => {
  state[Symbol.dispose]();
  index[Symbol.dispose]();
  dir[Symbol.dispose]();
});

function startEngine({
  timeoutMs = testTimings.timeoutMs,
  rerunAfterMs = testTimings.rerunAfterMs,
  backoffMs = testTimings.backoffMs,
  onLog = () => {},
  settings = [],
  stores = localStores(state, { clock }),
  spans,
  ...options
}: EngineOptions = {}) {
  const common = { config: configWith(...settings), clock, log: logTo(onLog), spans };
  return createFanOut({
    common,
    index,
    state: stores,
    monotonicMs: () => clock.nowMs(),
    client: loopbackClient(),
    timings: { ...testTimings, timeoutMs, rerunAfterMs, backoffMs },
    ...options,
  });
}

function store(
  audience = { targetFids: [], excludeFids: [] as number[], followingFid: null },
  campaignId = campaign.campaignId,
) {
  return localStores(state).campaigns.create(
    {
      ...campaign,
      campaignId,
      notification: { notificationId: "n", title: "T", body: "B", targetUrl: "https://app.example" },
      audience,
      createdAt: START,
      ledgerSecs: DAY_SECS,
    },
    10,
  );
}

function addTokens(client: PushClient, count: number): void {
  insertTokens(
    state,
    Array.from({ length: count }, (_, at) => ({
      fid: 10 + at,
      url: `http://c.example:${client.port}/`,
      token: `t${at}`,
    })),
  );
}

const found = () => localStores(state).campaigns.find("c");

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
  const stores = localStores(state, { clock });
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
  const stores = localStores(state, { clock });
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
  await takeCampaign(localStores(state).campaigns, "c");
  clock.advanceSecs(DAY_SECS);
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
    const campaigns = localStores(state).campaigns;
    await using client = startPushClient(async (request, nth) => {
      if (nth > 0) return allServed(request, nth);
      clock.advanceSecs(60);
      await store({ targetFids: [], excludeFids: [], followingFid: null }, "d");
      const other = await takeCampaign(campaigns, "d", {
        nowSecs: START,
        running: [{ seq: 1, appId: APP_ID }],
      });
      const keys = taken.map((fid) => ({ fid, clientFid: 9152 }));
      await localStores(state).ledger.claim(other, keys, 30);
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
    if (nth === 2) state.sqlite.run("ALTER TABLE campaign_counts RENAME TO away");
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
  state.sqlite.run("ALTER TABLE away RENAME TO campaign_counts");
  await ended;
  expect(await found()).toMatchObject({
    status: "completed",
    counts: { success: 999, failure: 1, notAttempted: 0 },
  });
  await engine.stop(0);
});

test("a campaign that another run has started ends without the results of its tokens: the list would be incomplete", async () => {
  await using client = startPushClient();
  addTokens(client, 2);
  await store();
  await takeCampaign(localStores(state).campaigns, "c");
  const engine = await startEngine();
  expect(await engine.run("c")).toEqual({ results: undefined });
  await engine.stop(0);
});

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
  const stores = localStores(state, { clock });
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

test("runs a campaign once for two calls, and resolves for a finished one", async () => {
  await using client = startPushClient();
  addTokens(client, 250);
  await store();
  const engine = await startEngine();
  await Promise.all([engine.run("c"), engine.run("c")]);
  await engine.run("c");
  expect(client.requests).toHaveLength(3);
  await engine.stop(0);
});

test("the end of a campaign makes room for one that waits for the limit of its app", async () => {
  const stores = localStores(state, { clock });
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
  const runs = ids.slice(0, 8).map((id) => engine.run(id));
  await until(async () => (await engine.stats()).campaignsRunning === 8);
  const before = looks;
  ends.resolve();
  await Promise.all(runs);
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  // Each of the eight ends looks at once, some together; the timer looks once a second.
  expect(looks).toBeGreaterThan(before);
  await engine.run("c8");
  await engine.stop(0);
});

test("a caller does not wait for a campaign that faults interrupt again and again", async () => {
  const stores = localStores(state, { clock });
  let faults = 0;
  const campaigns: Stores["campaigns"] = {
    ...stores.campaigns,
    async end() {
      faults += 1;
      throw new Error("a fault");
    },
  };
  await store();
  const engine = await startEngine({ stores: { ...stores, campaigns } });
  expect(await engine.run("c")).toBeUndefined();
  expect(faults).toBeGreaterThan(1);
  await engine.stop(0);
  expect((await found())?.status).not.toBe("completed");
});

test("a caller waits for a campaign that an absent state interrupts again and again", async () => {
  const stores = localStores(state, { clock });
  let refusals = 0;
  const campaigns: Stores["campaigns"] = {
    ...stores.campaigns,
    async end(...args) {
      refusals += 1;
      if (refusals <= 8) throw new StateUnavailable("away");
      return stores.campaigns.end(...args);
    },
  };
  await store();
  const engine = await startEngine({ stores: { ...stores, campaigns } });
  const ended = engine.run("c");
  const wake = setInterval(() => void engine.wake(), 1);
  expect(await ended).toEqual({ results: [] });
  clearInterval(wake);
  await engine.stop(0);
});

test("asks for the ends of no campaigns after it has stopped", async () => {
  await store();
  jest.useFakeTimers();
  try {
    const stores = localStores(state, { clock });
    const asked: Promise<unknown>[] = [];
    const campaigns: Stores["campaigns"] = {
      ...stores.campaigns,
      ended(ids) {
        const response = stores.campaigns.ended(ids);
        asked.push(response);
        return response;
      },
    };
    const engine = await startEngine({ stores: { ...stores, campaigns }, permission: () => "isolated" });
    void engine.run("c");
    jest.advanceTimersByTime(500);
    await Promise.all(asked);
    await engine.stop(0);
    jest.advanceTimersByTime(60_000);
    expect(asked).toHaveLength(1);
  } finally {
    jest.useRealTimers();
  }
});

test("a send that arrives while the process stops is stored and not waited for", async () => {
  const stores = localStores(state, { clock });
  const engine = await startEngine({ stores, permission: () => "isolated" });
  const sends = createSendService({
    ...stores,
    fanOut: engine,
    clock,
    dedupeTtlSecs: DAY_SECS,
    stopping: AbortSignal.abort(),
  });
  const started = expectOk(await sends.start(testApp(), { notification }));
  expect(await started.result).toBeUndefined();
  expect(await stores.campaigns.find(started.campaignId)).toMatchObject({ status: "queued" });
  await engine.stop(0);
});

test("a send that runs while the process stops is no longer waited for", async () => {
  const called = Promise.withResolvers<void>();
  await using client = startPushClient(() => {
    called.resolve();
    return new Promise(() => undefined);
  });
  addTokens(client, 1);
  const stores = localStores(state, { clock });
  const engine = await startEngine({ stores });
  const stopping = new AbortController();
  const deps = { ...stores, fanOut: engine, clock, dedupeTtlSecs: DAY_SECS, stopping: stopping.signal };
  const started = expectOk(await createSendService(deps).start(testApp(), { notification }));
  await called.promise;
  stopping.abort();
  expect(await started.result).toBeUndefined();
  await engine.stop(0);
});

test("a fault at the end of a send reaches the caller that waits for it; no one has to", async () => {
  const stores = localStores(state, { clock });
  const read = Promise.withResolvers<void>();
  const find = () => {
    read.resolve();
    return Promise.reject(new Error("no disk"));
  };
  const campaigns = { ...stores.campaigns, find };
  const engine = await startEngine({ stores });
  const sends = createSendService({
    ...{ ...stores, campaigns, fanOut: engine, clock, dedupeTtlSecs: DAY_SECS },
    stopping: new AbortController().signal,
  });
  const { result } = expectOk(await sends.start(testApp(), { notification }));
  await read.promise;
  // A rejection that no one handles fails the test here.
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
  await expect(result).rejects.toThrow("no disk");
  await engine.stop(0);
});

test.each([9_999, 10_000, 20_001])(
  "all %i fids that may be sent to again are returned, ascending",
  async (count) => {
    await store();
    state.sqlite.run(
      `WITH RECURSIVE fids (fid) AS (SELECT 1 UNION ALL SELECT fid + 1 FROM fids WHERE fid < ${count})
     INSERT INTO campaign_retryable (campaign, fid) SELECT (SELECT seq FROM campaigns), fid FROM fids`,
    );
    const fids = await allRetryableFids(localStores(state).campaigns, "c");
    expect(fids).toEqual(Array.from({ length: count }, (_, at) => at + 1));
  },
);

test("reports how many campaigns no node runs, and the age of the oldest; null while the state does not respond", async () => {
  const stores = localStores(state, { clock });
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
  clock.advanceSecs(7);
  expect(await queued()).toEqual([0, 2, 7]);
  // The clock of this machine is behind that of the one that has stored them.
  clock.advanceSecs(-10);
  expect(await queued()).toEqual([0, 2, 0]);
  responds = false;
  expect(await queued()).toEqual([0, null, null]);
  await engine.stop(0);
});

test("a campaign waits twice as long after each further fault", async () => {
  const stores = localStores(state, { clock });
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

test("a page that cannot be claimed while another is sent interrupts the run; what has arrived counts", async () => {
  const stores = localStores(state, { clock });
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

/** Keeps every span in memory. */
function keptSpans() {
  const ended: EndedSpan[] = [];
  const spans = createSpans({
    ratio: 1,
    onEnd: (span) => ended.push(span),
    stop: async () => undefined,
    clock,
    monotonicMs: () => clock.nowMs(),
    random: () => 0,
  });
  return { spans, campaigns: () => ended.filter(({ name }) => name === "send notifications") };
}

const REQUEST = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" };
const TRACEPARENT = `00-${REQUEST.traceId}-${REQUEST.spanId}-01`;

test("a campaign continues the trace of its request, and its span has the results", async () => {
  await using client = startPushClient();
  addTokens(client, 2);
  await store();
  const { spans, campaigns } = keptSpans();
  const engine = await startEngine({ spans });
  await engine.run("c", TRACEPARENT);
  // It ends once the results have been read.
  await until(async () => campaigns().length > 0);
  await engine.stop(0);
  expect(campaigns()).toMatchObject([
    {
      traceId: REQUEST.traceId,
      parentId: REQUEST.spanId,
      failure: undefined,
      attributes: { "svc.run": 1, "svc.tokens.success": 2 },
    },
  ]);
});

test("each run of a campaign has a span that says what ended it; only the first belongs to the request", async () => {
  const stores = localStores(state, { clock });
  const { spans, campaigns } = keptSpans();
  const ends = [new Error("a fault"), new RunLost("taken")];
  const lost = Promise.withResolvers<void>();
  const failing: Stores["campaigns"] = {
    ...stores.campaigns,
    async end(...args) {
      const cause = ends.shift();
      if (cause) throw cause;
      return stores.campaigns.end(...args);
    },
  };
  await store();
  const engine = await startEngine({
    stores: { ...stores, campaigns: failing },
    spans,
    onLog: (line) => line.includes("taken over") && lost.resolve(),
  });
  void engine.run("c", TRACEPARENT);
  const wake = setInterval(() => void engine.wake(), 1);
  await lost.promise;
  clearInterval(wake);
  await engine.stop(0);
  const runs = campaigns().slice(0, 2);
  expect(runs.map(({ failure, parentId }) => [failure, parentId])).toEqual([
    ["interrupted", REQUEST.spanId],
    ["run_lost", undefined],
  ]);
});
