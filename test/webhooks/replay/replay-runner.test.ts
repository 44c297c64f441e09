import { afterAll, beforeAll, expect, test } from "bun:test";
import { lastOutboxSeq, publishedSeq } from "../../../src/db/index/log/outbox.ts";
import { openState, type StateDatabase, statePath } from "../../../src/db/state/database.ts";
import { startSingleNode } from "../../../src/db/state/state-db.ts";
import { createLocalStores } from "../../../src/node/state/sqlite-stores.ts";
import type { StateStores } from "../../../src/node/state/stores.ts";
import { createPreviews } from "../../../src/webhooks/preview/previews.ts";
import { startPublisher } from "../../../src/webhooks/publish/publisher.ts";
import { type ReplayRunner, startReplays } from "../../../src/webhooks/replay/replay-runner.ts";
import { messageIdOf } from "../../../src/webhooks/store/queue-events.ts";
import { UNTRIED } from "../../../src/webhooks/store/webhook-store.ts";
import { makeSecret } from "../../management/owned-store-contract.ts";
import { silentLog } from "../../support/log.ts";
import { until } from "../../support/manual-time.ts";
import { noBans, startMatching } from "../../support/matching.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP } from "../../support/messages.ts";
import { cast } from "../../support/records.ts";
import { expectOk } from "../../support/result.ts";
import { startTestWriter, type TestWriter } from "../../support/writer.ts";

const FIDS = Array.from({ length: 20 }, (_, at) => at + 1);
const HOOK = "hook-1";
const log = silentLog;

let writer: TestWriter;
let state: StateDatabase;
let stores: StateStores;
beforeAll(async () => {
  writer = await startTestWriter(...FIDS);
  state = openState(statePath(writer.dir));
  stores = storesOfProcess();
});
afterAll(() => {
  state[Symbol.dispose]();
  writer[Symbol.dispose]();
});

const now = () => Math.floor(writer.clock.nowMs() / 1000);
/** Casts of another time than that of the clock are not events. */
const castAt = () => DEFAULT_TIMESTAMP + now() - DEFAULT_NOW_SECS;
const storesOfProcess = () =>
  createLocalStores(state, {
    limits: { maxQueued: 1_000 },
    clock: writer.clock,
    monotonicMs: () => writer.clock.nowMs(),
    node: startSingleNode(),
  });

/** A process whose steps the test takes. */
function startProcess(): ReplayRunner & { readonly stores: StateStores; step(): Promise<void> } {
  const own = storesOfProcess();
  const scans = { index: writer.reader, matching: startMatching(), bannedAmong: noBans, clock: writer.clock };
  let next: (() => void) | undefined;
  const runner = startReplays({
    ...scans,
    inTurn: createPreviews(scans).inTurn,
    store: own.replays,
    webhooks: own.webhooks,
    onQueued: () => undefined,
    setTimer(_, work) {
      next = work;
      return () => undefined;
    },
    // A busy machine takes its time.
    monotonicMs: () => 0,
    log,
  });
  return {
    ...runner,
    stores: own,
    async step() {
      const work = next;
      next = undefined;
      work?.();
      await until(() => next !== undefined);
    },
  };
}

/** Publishes what the network did, as the node does. */
async function publish(): Promise<void> {
  const waiting = lastOutboxSeq(writer.reader) - publishedSeq(writer.reader);
  const publisher = startPublisher({
    index: writer.reader,
    outbox: writer.client,
    store: stores.publications,
    matching: startMatching(),
    bannedAmong: noBans,
    hasRoom: async () => true,
    onQueued: () => undefined,
    onDeactivated: () => undefined,
    clock: writer.clock,
    log,
  });
  await until(() => publisher.stats().publishedEvents >= waiting);
  await publisher.stop();
}

/** Delivers everything that is queued. Returns the ids that the receiver sees. */
async function receive(
  outcome: (at: number) => "delivered" | "failed" = () => "delivered",
  max = 1_000,
): Promise<string[]> {
  const nowMs = writer.clock.nowMs();
  const claimed = await stores.queue.claim({
    webhookId: HOOK,
    nowMs,
    leaseEndsAtMs: nowMs + 40_000,
    maxRetryDelayMs: 86_400_000,
    limit: { calls: 10_000, windowMs: 60_000, maxWaitMs: 900_000 },
    max,
    maxHoldMs: 0,
  });
  const deliveries = claimed?.deliveries ?? [];
  const attempt = { atMs: nowMs, status: 200, error: null, durationMs: 5, responseText: "" };
  await stores.queue.settle(
    deliveries.map((delivery, at) => ({
      delivery,
      verdict: { kind: outcome(at) },
      holdUntilMs: null,
      attempt,
    })),
    { failures: 1_000, runSecs: 86_400 },
  );
  return deliveries.map(({ messageId }) => messageId);
}

test("checks 11 and 12: a replay of what is missing sends exactly the rest, once, under the first ids, over kills", async () => {
  const webhook = { webhookId: HOOK, ownerFid: 1, title: "", targetUrl: "https://receiver.example" };
  const made = { secrets: [makeSecret(1)], createdAt: now() - 10, updatedAt: now() - 10 };
  const common = { description: null, active: true, compatPrefix: null, health: UNTRIED };
  const subscription = { "cast.created": { text: "(?i)gm" } };
  await stores.webhooks.create({ ...webhook, ...common, ...made, subscription }, 1_000);
  const own = () => ({ id: HOOK, ownerFid: 1, nowSecs: now() });
  const say = (from: number, count: number) =>
    writer.submit(
      ...Array.from({ length: count }, (_, n) =>
        cast(FIDS[n % FIDS.length] ?? 1, n % 4 === 3 ? `no ${from + n}` : `gm ${from + n}`),
      ),
    );
  const fromAt = now();
  await say(0, 20);
  await publish();
  const atFirst = await receive((at) => (at % 3 === 0 ? "failed" : "delivered"));
  expect(atFirst).toHaveLength(15);
  // The receiver fails for so long that the webhook is disabled: what happens then has no delivery.
  await stores.webhooks.update(own(), { active: false });
  writer.clock.advanceSecs(60);
  await say(100, 400);
  await publish();
  writer.clock.advanceSecs(60);
  await stores.webhooks.update(own(), { active: true });
  const toAt = now();
  writer.clock.advanceSecs(10);
  await say(900, 4);

  let process = startProcess();
  const plan = { webhookId: HOOK, ownerFid: 1, subscription, scope: "missing" as const, fromAt, toAt };
  expect(expectOk(await process.plan(plan))).toEqual({
    matched: 315,
    alreadyDelivered: 10,
    toSend: 305,
    isPartial: false,
  });
  expect(expectOk(await process.plan({ ...plan, scope: "all" })).toSend).toBe(315);
  expect(expectOk(await process.plan({ ...plan, scope: "failed" })).toSend).toBe(5);

  const run = async (replayId: string) => {
    const replay = { replayId, webhookId: HOOK, ownerFid: 1, scope: "missing" as const, fromAt, toAt };
    expect(await stores.replays.start({ ...replay, perSecond: 40, maxSent: 10_000 }, now())).toBe("started");
    const received: string[] = [];
    for (let steps = 1; (await stores.replays.find(replayId))?.endedAt === null; steps++) {
      await process.step();
      writer.clock.advanceSecs(1);
      received.push(...(await receive()));
      if (steps % 3 === 0) {
        // Killed: its lease runs on, and the next process begins the events again.
        await process.stop();
        process = startProcess();
        writer.clock.advanceSecs(61);
      }
    }
    return received;
  };
  const received = await run("replay-1");
  expect(received).toHaveLength(305);
  expect(new Set(received).size).toBe(305);
  const events = state.sqlite.query<{ event_id: string }, []>("SELECT event_id FROM delivery_events").all();
  const ids = new Set(events.map(({ event_id: id }) => messageIdOf(id, HOOK)));
  expect(received.every((id) => ids.has(id))).toBe(true);
  // The five that had failed arrived again under the ids that the receiver knows.
  expect(atFirst.filter((id) => received.includes(id))).toHaveLength(5);
  expect(await stores.replays.find("replay-1")).toMatchObject({ state: "done", sent: 305 });

  expect(await run("replay-2")).toEqual([]);
  expect(await stores.replays.find("replay-2")).toMatchObject({ state: "done", sent: 0 });
  await process.stop();
}, 60_000);

test("console-next 11, check 13: what is live waits behind three seconds of a replay at most, though its receiver is slow", async () => {
  const [perSecond, slow, rounds] = [20, 5, 12];
  // A time of their own: the clock of the test before has moved on.
  writer.clock.advanceSecs(600);
  const fromAt = now();
  for (let n = 0; n < 10; n++)
    await writer.submit(...FIDS.map((fid) => cast(fid, `gm, number ${n}`, castAt())));
  await publish();
  await receive(() => "failed");
  const process = startProcess();
  writer.clock.advanceSecs(60);
  const replay = { replayId: "replay-3", webhookId: HOOK, ownerFid: 1, scope: "failed" as const };
  const limits = { perSecond, maxSent: 10_000, fromAt, toAt: now() };
  expect(await stores.replays.start({ ...replay, ...limits }, now())).toBe("started");
  const before = state.sqlite.query<{ count: number }, []>(
    `SELECT count(*) AS count FROM deliveries d WHERE d.state = 'queued' AND d.replay_id IS NOT NULL AND (d.due_at_ms, d.seq) <
       (SELECT l.due_at_ms, l.seq FROM deliveries l WHERE l.state = 'queued' AND l.replay_id IS NULL ORDER BY l.seq DESC LIMIT 1)`,
  );
  const waits: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await process.step();
    await writer.submit(cast(FIDS[round % FIDS.length] ?? 1, "gm, live", castAt()));
    await publish();
    waits.push(before.get()?.count ?? -1);
    writer.clock.advanceSecs(1);
    await receive(() => "delivered", slow);
  }
  expect(Math.max(...waits)).toBeWithin(perSecond, 3 * perSecond + 1);
  await stores.replays.end("replay-3", null, now());
  await process.stop();
}, 60_000);

test("a replay ends with the reason when its expressions cost too much", async () => {
  let nowMs = 0;
  const scans = {
    index: writer.reader,
    // Each look at the clock costs a second.
    matching: startMatching({ minuteMs: 0.05, eventMs: 0.05 }, () => (nowMs += 1_000)),
    bannedAmong: noBans,
    clock: writer.clock,
  };
  const runner = startReplays({
    ...scans,
    inTurn: createPreviews(scans).inTurn,
    store: stores.replays,
    webhooks: stores.webhooks,
    onQueued: () => undefined,
    setTimer: () => () => undefined,
    log,
  });
  const plan = await runner.plan({
    webhookId: HOOK,
    ownerFid: 1,
    subscription: { "cast.created": { text: "(?s).{100}x" }, "cast.deleted": { text: "(?s).{99}x" } },
    scope: "missing",
    fromAt: 0,
    toAt: now(),
  });
  expect(plan.ok).toBe(false);
});
