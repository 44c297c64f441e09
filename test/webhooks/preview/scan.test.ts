import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { eventsAfter } from "../../../src/db/index/log/outbox.ts";
import { openState, statePath } from "../../../src/db/state/database.ts";
import { MAX_PREVIEW_EVENTS } from "../../../src/webhooks/preview/previews.ts";
import { type ScanRequest, scanEvents } from "../../../src/webhooks/preview/scan.ts";
import { startPublisher } from "../../../src/webhooks/publish/publisher.ts";
import { UNTRIED } from "../../../src/webhooks/store/webhook-store.ts";
import type { Subscription } from "../../../src/webhooks/subscription.ts";
import { makeSecret } from "../../management/owned-store-contract.ts";
import { silentLog } from "../../support/log.ts";
import { until } from "../../support/manual-time.ts";
import { noBans, startMatching } from "../../support/matching.ts";
import { bio, cast, likeUrl, link, react, uncast, unlink, unreact } from "../../support/records.ts";
import { expectOk } from "../../support/result.ts";
import { localStores } from "../../support/state-stores.ts";
import { someSubscription } from "../../support/subscriptions.ts";
import { startTestWriter, type TestWriter } from "../../support/writer.ts";

const FIDS = [1, 2, 3, 4, 5];
const WORDS = ["gm", "GM everyone", "degen", "ship it é", "a aa", "0x1f2e", "\n😀 $"];

let writer: TestWriter;
let events = 0;
beforeAll(async () => {
  writer = await startTestWriter(...FIDS);
  const records = FIDS.flatMap((fid) => [
    ...WORDS.map((word) => cast(fid, word)),
    uncast(fid, cast(fid, "gm")),
    link(fid, "follow", (fid % 5) + 1),
    react(fid, 1),
    likeUrl(fid, "https://x.example/1"),
    bio(fid, "bread"),
  ]);
  await writer.submit(...records);
  await writer.submit(unlink(1, "follow", 2), unreact(2, 1));
  events = eventsAfter(writer.reader, 0, 1_000).length;
});
afterAll(() => writer[Symbol.dispose]());

const scan = (subscription: Subscription, over: Partial<ScanRequest> = {}) =>
  scanEvents(
    { index: writer.reader, matching: startMatching(), bannedAmong: noBans, clock: writer.clock },
    {
      ownerId: "preview:1",
      ownerFid: 1,
      subscription,
      events: MAX_PREVIEW_EVENTS,
      isOver: () => false,
      ...over,
    },
  );

describe("a preview", () => {
  test("of a time matches the events that the node applied in it, both ends included", async () => {
    const applied = eventsAfter(writer.reader, 0, 1_000).map(({ appliedAt }) => appliedAt);
    const [oldest = 0, newest = 0] = [applied[0], applied.at(-1)];
    const subscription: Subscription = Object.fromEntries(
      ["cast.created", "cast.deleted", "follow.created", "follow.deleted"].map((kind) => [kind, {}]),
    );
    for (const [fromSecs, toSecs] of [
      [oldest, newest],
      [newest + 1, newest + 9],
      [0, oldest - 1],
      [newest, newest],
      [undefined, oldest],
    ] as const) {
      const expected = applied.filter((at) => at >= (fromSecs ?? 0) && at <= toSecs).length;
      expect(expectOk(await scan(subscription, { fromSecs, toSecs })).scanned).toBe(expected);
    }
  });

  test("check 30: matches the very events that a webhook with the subscription gets", async () => {
    const subscriptions: Subscription[] = [
      {
        "cast.created": {},
        "cast.deleted": {},
        "follow.created": {},
        "reaction.created": {},
        "user.updated": {},
      },
      { "cast.created": { text: "(?i)gm", author_fids: [1, 2], exclude_author_fids: [2] } },
      ...fc.sample(someSubscription, { numRuns: 40, seed: 30 }),
    ];
    const state = openState(statePath(writer.dir));
    const { webhooks, publications } = localStores(state);
    const createdAt = Math.floor(writer.clock.nowMs() / 1000) - 10;
    for (const [at, subscription] of subscriptions.entries()) {
      const webhook = {
        webhookId: `hook-${at}`,
        ownerFid: 1,
        title: "",
        targetUrl: "https://receiver.example",
      };
      const common = { description: null, active: true, compatPrefix: null, health: UNTRIED };
      const made = { secrets: [makeSecret(at)], createdAt, updatedAt: createdAt };
      await webhooks.create({ ...webhook, ...common, ...made, subscription }, 1000);
    }
    const publisher = startPublisher({
      index: writer.reader,
      outbox: writer.client,
      store: publications,
      matching: startMatching(),
      bannedAmong: noBans,
      hasRoom: async () => true,
      onQueued: () => undefined,
      onDeactivated: () => undefined,
      clock: writer.clock,
      log: silentLog,
    });
    await until(async () => publisher.stats().publishedEvents >= events);
    await publisher.stop();
    const delivered = state.sqlite.query<{ body: string; hook: string }, []>(
      `SELECT e.body, w.webhook_id AS hook FROM deliveries d JOIN delivery_events e ON e.seq = d.event
       JOIN webhooks w ON w.seq = d.webhook ORDER BY d.seq`,
    );
    const byHook = Map.groupBy(delivered.all(), ({ hook }) => hook);
    state[Symbol.dispose]();
    let matchedOfAll = 0;
    for (const [at, subscription] of subscriptions.entries()) {
      const bodies = (byHook.get(`hook-${at}`) ?? []).map(({ body }) => body);
      const outcome = expectOk(await scan(subscription));
      expect([at, outcome.scanned, outcome.matched]).toEqual([at, events, bodies.length]);
      for (const sample of outcome.samples) expect(bodies).toContain(sample);
      const fell = Object.values(outcome.fellTo).reduce((sum, count) => sum + count, 0);
      expect(outcome.matched + fell).toBe(outcome.scanned);
      const kinds = Object.values(outcome.byKind);
      expect(kinds.reduce((sum, { scanned }) => sum + scanned, 0)).toBe(outcome.scanned);
      expect(kinds.reduce((sum, { matched }) => sum + matched, 0)).toBe(outcome.matched);
      matchedOfAll += outcome.matched;
    }
    expect(matchedOfAll).toBeGreaterThan(events);
  });

  test("looks at as many of the newest events as were asked for, and says of which time they are", async () => {
    const all = expectOk(await scan({ "cast.created": {} }));
    const nowSecs = Math.floor(writer.clock.nowMs() / 1000);
    expect(all).toMatchObject({ scanned: events, fromSecs: nowSecs, toSecs: nowSecs });
    const few = expectOk(await scan({ "follow.deleted": {}, "reaction.deleted": {} }, { events: 2 }));
    expect(few).toMatchObject({
      scanned: 2,
      matched: 2,
      byKind: {
        "follow.deleted": { scanned: 1, matched: 1 },
        "reaction.deleted": { scanned: 1, matched: 1 },
      },
      fellTo: {},
    });
    expect(few.samples.map((body) => JSON.parse(body).type)).toEqual(["reaction.deleted", "follow.deleted"]);
  });

  test("has at most ten samples, and ends early when its time is over", async () => {
    let looks = 0;
    const outcome = expectOk(await scan({ "cast.created": {} }, { isOver: () => ++looks > 2 }));
    expect(outcome.scanned).toBe(50);
    expect(expectOk(await scan({ "cast.created": {} })).samples).toHaveLength(10);
  });

  test("counts what a subscription excludes under its name", async () => {
    const subscription: Subscription = { "cast.created": {}, "follow.deleted": {}, exclude: { fids: [1] } };
    const all = expectOk(await scan({ "cast.created": {}, "follow.deleted": {} }));
    const found = expectOk(await scan(subscription));
    expect(found.fellTo.exclude).toBeGreaterThan(0);
    expect(found.matched + (found.fellTo.exclude ?? 0)).toBe(all.matched);
  });

  test("of an empty log has nothing", async () => {
    using empty = await startTestWriter();
    const deps = { index: empty.reader, matching: startMatching(), bannedAmong: noBans, clock: empty.clock };
    const request = { ownerId: "preview:1", ownerFid: 1, events: 9, isOver: () => false };
    expect(await scanEvents(deps, { ...request, subscription: { "cast.created": {} } })).toEqual({
      ok: true,
      value: { scanned: 0, fromSecs: null, toSecs: null, matched: 0, byKind: {}, fellTo: {}, samples: [] },
    });
  });

  test("passes over rows that it cannot read, and gives its thread a turn between slices of them", async () => {
    using old = await startTestWriter(...FIDS);
    await old.submit(...FIDS.flatMap((fid) => Array.from({ length: 30 }, (_, n) => cast(fid, `cast ${n}`))));
    old.db.sqlite.run("UPDATE event_outbox SET subject = NULL WHERE subject IS NOT NULL");
    let turns = 0;
    const looks: number[] = [];
    const isOver = () => {
      looks.push(turns);
      setImmediate(() => turns++);
      return false;
    };
    const deps = { index: old.reader, matching: startMatching(), bannedAmong: noBans, clock: old.clock };
    const request = {
      ownerId: "preview:1",
      ownerFid: 1,
      subscription: { "cast.created": {} },
      events: 1_000,
      isOver,
    };
    expect(expectOk(await scanEvents(deps, request))).toMatchObject({ matched: 0 });
    expect(looks.slice(0, 3)).toEqual([0, 1, 2]);
  });

  test("stops over its budget, and leaves nothing at the matcher", async () => {
    let nowMs = 0;
    // Each look at the clock costs a second.
    const matching = startMatching({ minuteMs: 0.05, eventMs: 0.05 }, () => (nowMs += 1_000));
    const deps = { index: writer.reader, matching, bannedAmong: noBans, clock: writer.clock };
    const request = { ownerId: "preview:1", ownerFid: 1, events: 1_000, isOver: () => false };
    const slow = { "cast.created": { text: "(?s).{100}x" }, "cast.deleted": { text: "(?s).{99}x" } };
    const stopped = await scanEvents(deps, { ...request, subscription: slow });
    expect(stopped).toMatchObject({ ok: false, error: expect.stringContaining("took more than") });
    const later = await matching.match([{ kind: "user.updated", fid: 1 }]);
    expect(later).toEqual({ matches: [[]], refused: [] });
  });
});
