import { describe, expect, test } from "bun:test";
import { eventsAfter, outboxBacklog } from "../../../src/db/index/log/outbox.ts";
import { openState, statePath } from "../../../src/db/state/database.ts";
import type { MessageRef, RelayedOp } from "../../../src/ingest/relayed-op.ts";
import { slotOf } from "../../../src/protocol/message/merge-rules.ts";
import { decodeMessage } from "../../../src/protocol/message/signed-message.ts";
import { UserNameProof } from "../../../src/protocol/wire/generated/message.ts";
import {
  type OutboxClient,
  type Publisher,
  type PublisherDeps,
  startPublisher,
} from "../../../src/webhooks/publish/publisher.ts";
import type { DeliveryPublications } from "../../../src/webhooks/store/delivery-publications.ts";
import { UNTRIED } from "../../../src/webhooks/store/webhook-store.ts";
import type { Subscription } from "../../../src/webhooks/subscription.ts";
import { makeSecret } from "../../management/owned-store-contract.ts";
import { silentLog } from "../../support/log.ts";
import { noBans, startMatching } from "../../support/matching.ts";
import { bio, cast, ensProof, link, uncast } from "../../support/records.ts";
import { expectOk } from "../../support/result.ts";
import { localStores } from "../../support/state-stores.ts";
import { ManualTimers } from "../../support/timers.ts";
import { startTestWriter } from "../../support/writer.ts";

const INTERVALS = { markAfterMs: 1_000, pollIntervalMs: 10_000, retryAfterMs: 500 };

interface Run {
  readonly publisher: Publisher;
  readonly timers: ManualTimers;
  /** The webhooks of each `onQueued` call. */
  readonly notified: string[][];
  /** Resolves when this many events are published and the publisher is idle. */
  published(events: number): Promise<void>;
}

/** A writer, a state, and publishers that use both. */
async function startFixture(...fids: number[]) {
  const writer = await startTestWriter(...fids);
  const state = openState(statePath(writer.dir));
  const { webhooks, publications: store, moderation } = localStores(state);
  let made = 0;
  const nowSecs = () => Math.floor(writer.clock.nowMs() / 1000);

  async function addWebhook(subscription: Subscription): Promise<string> {
    const webhookId = `webhook-${++made}`;
    const common = { title: webhookId, description: null, active: true, compatPrefix: null, health: UNTRIED };
    const added = await webhooks.create(
      {
        ...common,
        webhookId,
        ownerFid: 1,
        targetUrl: "https://receiver.example",
        subscription,
        secrets: [makeSecret(made)],
        createdAt: nowSecs(),
        updatedAt: nowSecs(),
      },
      100_000,
    );
    if (typeof added === "string") throw new Error(added);
    return webhookId;
  }

  function run(over: Partial<PublisherDeps> = {}): Run {
    const timers = new ManualTimers();
    const notified: string[][] = [];
    const publisher = startPublisher({
      index: writer.reader,
      outbox: writer.client,
      store,
      matching: startMatching(),
      bannedAmong: noBans,
      hasRoom: async () => true,
      onQueued: (webhookIds) => notified.push([...webhookIds].sort()),
      onDeactivated: () => undefined,
      clock: writer.clock,
      log: silentLog,
      intervals: INTERVALS,
      setTimer: timers.after,
      ...over,
    });
    const published = async (events: number) => {
      while (publisher.stats().publishedEvents < events || timers.pendingMs === undefined)
        await timers.next();
    };
    return { publisher, timers, notified, published };
  }

  /** All deliveries as `kind → webhook`, in the order in which they were queued. */
  const deliveries = () =>
    state.sqlite
      .query<{ line: string }, []>(
        `SELECT e.kind || ' → ' || w.webhook_id AS line FROM deliveries d
         JOIN delivery_events e ON e.seq = d.event JOIN webhooks w ON w.seq = d.webhook ORDER BY d.seq`,
      )
      .all()
      .map(({ line }) => line);
  const events = () =>
    state.sqlite
      .query<{ event_id: string; body: string }, []>(
        "SELECT event_id, body FROM delivery_events ORDER BY seq",
      )
      .all();

  return {
    writer,
    webhooks,
    store,
    moderation,
    addWebhook,
    run,
    deliveries,
    events,
    claimOf: (id: string) => ({ id, ownerFid: 1, nowSecs: nowSecs() }),
    [Symbol.dispose]() {
      state[Symbol.dispose]();
      writer[Symbol.dispose]();
    },
  };
}

function decoded(bytes: Uint8Array) {
  return expectOk(decodeMessage(bytes));
}

function refOf(bytes: Uint8Array): MessageRef {
  const message = decoded(bytes);
  const { store, slot } = slotOf(message);
  return { fid: message.data.fid, store, slot, hash: message.hash };
}

function proofIn(bytes: Uint8Array): UserNameProof {
  const { body } = decoded(bytes).data;
  if (body?.$case !== "usernameProofBody") throw new Error("no username proof");
  return body.value;
}

const ALL_CASTS: Subscription = { "cast.created": {}, "cast.deleted": {} };

describe("publisher", () => {
  test("queues each event once per matching webhook, with one body for all", async () => {
    using fixture = await startFixture(1, 2);
    const { writer, addWebhook, run, deliveries, events } = fixture;
    const every = await addWebhook(ALL_CASTS);
    const ofTwo = await addWebhook({ "cast.created": { author_fids: [2] } });
    await addWebhook({ "follow.created": {} });
    const { publisher, notified, published } = run();
    await writer.submit(cast(1, "one"), cast(2, "two"), uncast(1, cast(1, "one")), bio(1, "nobody asks"));
    await published(4);
    expect(deliveries()).toEqual([
      `cast.created → ${every}`,
      `cast.created → ${every}`,
      `cast.created → ${ofTwo}`,
      `cast.deleted → ${every}`,
    ]);
    expect(events().map(({ body }) => JSON.parse(body).data.text)).toEqual(["one", "two", "one"]);
    expect(notified.flat().sort()).toEqual(expect.arrayContaining([every, ofTwo]));
    expect(publisher.stats()).toMatchObject({
      publishedEvents: 4,
      queuedDeliveries: 4,
      subscribedWebhooks: 3,
    });
    await publisher.stop();
    expect(outboxBacklog(writer.db).events).toBe(0);
  });

  test("leaves out users that a webhook excludes, and those its owner bans at that moment", async () => {
    using fixture = await startFixture(1, 2, 3);
    const { writer, addWebhook, run, deliveries, moderation } = fixture;
    const listed = await addWebhook({ "cast.created": {}, exclude: { fids: [2] } });
    const banning = await addWebhook({
      "cast.created": {},
      "follow.created": { match: "any", fids: [2, 3] },
      exclude: { bans: true },
    });
    const { publisher, published } = run({ bannedAmong: moderation.bannedAmong });
    const bounds = { bans: 10, mutesOfUser: 1, mutes: 1 };
    await moderation.ban(1, [3], { keyId: null, nowSecs: 1 }, bounds);
    // Another owner's bans count for its own webhooks only.
    await moderation.ban(9, [1], { keyId: null, nowSecs: 1 }, bounds);
    await writer.submit(cast(1, "one"), cast(2, "two"), cast(3, "three"), link(3, "follow", 1));
    await published(4);
    expect(deliveries().sort()).toEqual(
      [`${listed}`, `${banning}`, `${banning}`, `${listed}`].map((id) => `cast.created → ${id}`).sort(),
    );
    await moderation.unban(1, [3]);
    await writer.submit(link(3, "follow", 2));
    await published(5);
    expect(deliveries().at(-1)).toBe(`follow.created → ${banning}`);
    await publisher.stop();
  });

  test("publishes the events in the outbox at the start, then new ones", async () => {
    using fixture = await startFixture(1);
    const { writer, addWebhook, run, deliveries } = fixture;
    const webhook = await addWebhook(ALL_CASTS);
    await writer.submit(cast(1, "before"));
    const { publisher, published } = run();
    await published(1);
    await writer.submit(cast(1, "after"));
    await published(2);
    expect(deliveries()).toEqual([`cast.created → ${webhook}`, `cast.created → ${webhook}`]);
    await publisher.stop();
  });

  test("queues no second delivery after a kill between queueing and the write of the position", async () => {
    using fixture = await startFixture(1);
    const { writer, addWebhook, run, deliveries, events } = fixture;
    await addWebhook(ALL_CASTS);
    // The outbox of a process that is killed before it writes the position.
    const killed: OutboxClient = {
      awaitEvents: writer.client.awaitEvents,
      markPublished: async () => undefined,
    };
    const first = run({ outbox: killed });
    await writer.submit(cast(1, "a"), cast(1, "b"));
    await first.published(2);
    await first.publisher.stop();
    const [before, bodies] = [deliveries(), events()];
    expect([before.length, outboxBacklog(writer.db).events]).toEqual([2, 2]);
    const second = run();
    await second.published(2);
    expect([deliveries(), events()]).toEqual([before, bodies]);
    expect([second.notified, second.publisher.stats().queuedDeliveries]).toEqual([[], 0]);
    await second.publisher.stop();
    expect(outboxBacklog(writer.db).events).toBe(0);
  });

  test("passes over the events that another node publishes, and publishes those before and after them", async () => {
    using fixture = await startFixture(1);
    const { writer, addWebhook, run, store, events } = fixture;
    await addWebhook(ALL_CASTS);
    const start = Math.floor(writer.clock.nowMs() / 1000);
    for (const [text, atSecs] of [
      ["before the other was live", 0],
      ["while this one filled", 100],
      ["while this one still filled", 150],
      ["since this one is live", 200],
    ] as const) {
      writer.clock.setSecs(start + atSecs);
      await writer.submit(cast(1, text));
    }
    const others = { ownLiveSince: start + 200, othersLiveSince: start + 40 };
    const { publisher, published } = run({ store: { ...store, otherProcesses: async () => others } });
    await published(2);
    expect(publisher.stats()).toMatchObject({ publishedEvents: 2, leftEvents: 2 });
    expect(events().map(({ body }) => JSON.parse(body).data.text)).toEqual([
      "before the other was live",
      "since this one is live",
    ]);
    await publisher.stop();
    expect(outboxBacklog(writer.db).events).toBe(0);
  });

  test("delivers two user updates for a relayed message that is added and removed, each once", async () => {
    using fixture = await startFixture(1);
    const { writer, addWebhook, run, deliveries } = fixture;
    const webhook = await addWebhook({ "user.updated": {} });
    const bytes = bio(1, "short-lived").bytes;
    const ref = refOf(bytes);
    const proof = UserNameProof.encode(proofIn(ensProof(1, "one.eth").bytes)).finish();
    const happenedAt = Math.floor(writer.clock.nowMs() / 1000);
    const relay = (...ops: RelayedOp[]) => writer.client.relay({ ops, positions: [] });
    const whole = async () => {
      await relay({ kind: "merge", message: bytes, deleted: [], happenedAt });
      await relay({ kind: "remove", ref, happenedAt });
      await relay({ kind: "proof", added: proof, happenedAt });
      await relay({ kind: "proof", removed: proof, happenedAt });
    };
    // Published by a process that is killed before it writes the position, and by the next one; then relayed again by a follower that
    // starts again at an earlier position.
    const killed: OutboxClient = {
      awaitEvents: writer.client.awaitEvents,
      markPublished: async () => undefined,
    };
    const first = run({ outbox: killed });
    await whole();
    await first.published(4);
    await first.publisher.stop();
    expect(deliveries()).toEqual(Array.from({ length: 4 }, () => `user.updated → ${webhook}`));
    const second = run();
    await second.published(4);
    await whole();
    await second.published(8);
    await second.publisher.stop();
    expect([deliveries().length, outboxBacklog(writer.db).events]).toEqual([4, 0]);
  });

  test("publishes nothing again after a restart, although the events stay in the outbox", async () => {
    using fixture = await startFixture(1);
    const { writer, addWebhook, run, deliveries } = fixture;
    const first = run();
    await writer.submit(cast(1, "a"));
    await first.published(1);
    await first.publisher.stop();
    // It would get yesterday's events otherwise.
    const webhook = await addWebhook(ALL_CASTS);
    writer.clock.advanceSecs(-1);
    const second = run();
    await writer.submit(cast(1, "b"));
    await second.published(1);
    await second.publisher.stop();
    expect(eventsAfter(writer.db, 0, 10)).toHaveLength(2);
    expect([deliveries(), second.publisher.stats().publishedEvents]).toEqual([
      [`cast.created → ${webhook}`],
      1,
    ]);
  });

  test("queues everything after a kill within the transaction", async () => {
    using fixture = await startFixture(1);
    const { writer, store, addWebhook, run, deliveries } = fixture;
    const webhook = await addWebhook(ALL_CASTS);
    let failures = 0;
    const failing: DeliveryPublications = {
      ...store,
      async publish(matched) {
        if (failures++ === 0) throw new Error("the disk is full");
        return store.publish(matched);
      },
    };
    const { publisher, timers, published } = run({ store: failing });
    await writer.submit(cast(1, "a"));
    while (timers.pendingMs !== INTERVALS.retryAfterMs) await timers.next();
    expect([deliveries(), outboxBacklog(writer.db).events]).toEqual([[], 1]);
    timers.fire(writer.clock);
    await published(1);
    expect(deliveries()).toEqual([`cast.created → ${webhook}`]);
    await publisher.stop();
  });

  test("writes the position of published events once for all of an interval", async () => {
    using fixture = await startFixture(1);
    const { writer, run } = fixture;
    const { publisher, timers, published } = run();
    await writer.submit(cast(1, "a"));
    await published(1);
    await writer.submit(cast(1, "b"));
    await published(2);
    expect([outboxBacklog(writer.db).events, timers.pendingMs]).toEqual([2, INTERVALS.markAfterMs]);
    timers.fire(writer.clock);
    while (timers.pendingMs !== INTERVALS.pollIntervalMs) await timers.next();
    expect(outboxBacklog(writer.db).events).toBe(0);
    await publisher.stop();
  });

  test("a webhook gets events that were applied after its creation, also when they are published late", async () => {
    using fixture = await startFixture(1);
    const { writer, addWebhook, run, deliveries } = fixture;
    await writer.submit(cast(1, "before"));
    writer.clock.advanceSecs(1);
    const webhook = await addWebhook(ALL_CASTS);
    await writer.submit(cast(1, "after"));
    const { publisher, published } = run();
    await published(2);
    expect(deliveries()).toEqual([`cast.created → ${webhook}`]);
    await publisher.stop();
  });

  test("a webhook created while the clock was ahead gets events after the clock went back", async () => {
    using fixture = await startFixture(1);
    const { writer, addWebhook, run, deliveries } = fixture;
    writer.clock.advanceSecs(2 * 86_400);
    const webhook = await addWebhook(ALL_CASTS);
    const { publisher, published } = run();
    writer.clock.advanceSecs(-2 * 86_400);
    await writer.submit(cast(1, "now"));
    await published(1);
    expect(deliveries()).toEqual([`cast.created → ${webhook}`]);
    await publisher.stop();
  });

  test("applies each change of a webhook to the next event: new, changed, inactive, active again, deleted", async () => {
    using fixture = await startFixture(1);
    const { writer, webhooks, claimOf, addWebhook, run, deliveries } = fixture;
    const { publisher, published } = run();
    let events = 0;
    const received = async () => {
      const before = deliveries().length;
      await writer.submit(cast(1, `event ${++events}`));
      await published(events);
      return deliveries().slice(before);
    };
    expect(await received()).toEqual([]);
    const id = await addWebhook(ALL_CASTS);
    expect(await received()).toEqual([`cast.created → ${id}`]);
    await webhooks.update(claimOf(id), { subscription: { "cast.created": { author_fids: [2] } } });
    expect(await received()).toEqual([]);
    await webhooks.update(claimOf(id), { subscription: { "cast.created": { text: "event" } } });
    expect(await received()).toEqual([`cast.created → ${id}`]);
    await webhooks.update(claimOf(id), { active: false });
    expect(await received()).toEqual([]);
    await webhooks.update(claimOf(id), { active: true });
    expect(await received()).toEqual([`cast.created → ${id}`]);
    await webhooks.delete(claimOf(id));
    expect(await received()).toEqual([]);
    await publisher.stop();
  });

  test("leaves events in the outbox while the queue is full", async () => {
    using fixture = await startFixture(1);
    const { writer, addWebhook, run, deliveries } = fixture;
    await addWebhook(ALL_CASTS);
    let hasRoom = false;
    const { publisher, timers, published } = run({ hasRoom: async () => hasRoom });
    await writer.submit(cast(1, "a"), cast(1, "b"));
    for (let looks = 0; looks < 3; looks++) {
      while (timers.pendingMs !== INTERVALS.retryAfterMs) await timers.next();
      expect([publisher.stats().isBackpressured, deliveries(), outboxBacklog(writer.db).events]).toEqual([
        true,
        [],
        2,
      ]);
      hasRoom = looks === 2;
      timers.fire(writer.clock);
    }
    await published(2);
    expect([publisher.stats().isBackpressured, deliveries().length]).toEqual([false, 2]);
    await publisher.stop();
  });

  test("skips a row that cannot be read and one that cannot be presented, and publishes the others", async () => {
    using fixture = await startFixture(1, 2);
    const { writer, addWebhook, run, events } = fixture;
    await addWebhook({ ...ALL_CASTS, "follow.created": {} });
    await writer.submit(
      cast(1, "a"),
      cast(1, "unreadable"),
      cast(1, "b"),
      link(1, "follow", 2),
      cast(2, "c"),
    );
    writer.db.sqlite.exec("UPDATE event_outbox SET subject = x'ff' WHERE seq = 2");
    writer.db.sqlite.exec(
      "UPDATE event_outbox SET root_parent_url = 'https://farcaster.xyz/~/channel/broken' WHERE seq = 3",
    );
    writer.db.sqlite.exec(
      `INSERT INTO channel_registry (id, registry_id, name, name_key, moderator_fids, follower_count)
       VALUES ('broken', 'broken', '', '', 'no JSON', 0)`,
    );
    const { publisher, published } = run();
    await published(4);
    const shown = events().map(({ body }) => JSON.parse(body).data.text ?? "a follow");
    expect(shown).toEqual(["a", "a follow", "c"]);
    expect(publisher.stats().skippedEvents).toBe(2);
    await publisher.stop();
  });

  test("limits the deliveries of one transaction", async () => {
    using fixture = await startFixture(1);
    const { writer, store, addWebhook, run, deliveries } = fixture;
    for (let n = 0; n < 120; n++) await addWebhook(ALL_CASTS);
    const sizes: number[] = [];
    const counting: DeliveryPublications = {
      ...store,
      async publish(matched) {
        const publication = await store.publish(matched);
        if (publication !== "changed") sizes.push(publication.queued);
        return publication;
      },
    };
    await writer.submit(...Array.from({ length: 60 }, (_, n) => cast(1, `cast ${n}`)));
    const { publisher, published } = run({ store: counting });
    await published(60);
    expect(deliveries()).toHaveLength(120 * 60);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(5_000);
    await publisher.stop();
  });

  test("polls the outbox without a notification of the writer", async () => {
    using fixture = await startFixture(1);
    const { writer, addWebhook, run, deliveries } = fixture;
    await addWebhook(ALL_CASTS);
    const deaf: OutboxClient = {
      markPublished: writer.client.markPublished,
      awaitEvents: () => Promise.reject(new Error("the port is closed")),
    };
    const { publisher, timers, published } = run({ outbox: deaf });
    while (timers.pendingMs !== INTERVALS.pollIntervalMs) await timers.next();
    await writer.submit(cast(1, "a"));
    expect(deliveries()).toEqual([]);
    timers.fire(writer.clock);
    await published(1);
    expect(deliveries()).toHaveLength(1);
    await publisher.stop();
  });

  test("deactivates a webhook over its budget with a reason before its events count as published; others miss none", async () => {
    using fixture = await startFixture(1);
    const { writer, webhooks, addWebhook, run, deliveries, claimOf } = fixture;
    const dear = await addWebhook({ "cast.created": { text: `(?s)[ab].{140}[^ab]` } });
    const every = await addWebhook(ALL_CASTS);
    // Each reading of the clock is an hour later: every run seems to take the maximum.
    let nowMs = 0;
    const matching = startMatching({ minuteMs: 5, eventMs: 100 }, () => (nowMs += 3_600_000));
    let deactivated = 0;
    await writer.submit(cast(1, "gm"), cast(1, "ab".repeat(500)), cast(1, "gm again"));
    const { publisher, published } = run({ matching, onDeactivated: () => deactivated++ });
    await published(3);
    expect(deliveries()).toEqual([1, 2, 3].map(() => `cast.created → ${every}`));
    expect(deactivated).toBe(1);
    expect(await webhooks.find(dear, 0)).toMatchObject({
      active: false,
      health: { deactivationReason: expect.stringContaining("more than 5 ms of matching within a minute") },
    });
    // The owner may activate it again, and it is matched again.
    await webhooks.update(claimOf(dear), { active: true, subscription: { "cast.created": { text: "gm" } } });
    await writer.submit(cast(1, "gm to all"));
    await published(4);
    expect(deliveries().slice(3).sort()).toEqual([`cast.created → ${dear}`, `cast.created → ${every}`]);
    await publisher.stop();
  });

  test("deactivates a stored webhook with an expression that is no longer valid, naming the field", async () => {
    using fixture = await startFixture(1);
    const { webhooks, addWebhook, run, writer, deliveries } = fixture;
    const large = await addWebhook({ "cast.created": { text: "(?s).*a.{980}" } });
    const every = await addWebhook(ALL_CASTS);
    await writer.submit(cast(1, "gm"));
    const { publisher, published } = run();
    await published(1);
    expect(deliveries()).toEqual([`cast.created → ${every}`]);
    const reason = "cast.created.text repeats too much: it compiles to 985 instructions";
    expect(await webhooks.find(large, 0)).toMatchObject({
      active: false,
      health: { deactivationReason: expect.stringContaining(reason) },
    });
    await publisher.stop();
  });

  test("stops while the matching thread hangs, and the next publisher gets the events", async () => {
    using fixture = await startFixture(1);
    const { writer, addWebhook, run, deliveries } = fixture;
    const every = await addWebhook(ALL_CASTS);
    const requested = Promise.withResolvers<void>();
    const stuck = {
      update: async () => [],
      match: () => {
        requested.resolve();
        return new Promise<never>(() => undefined);
      },
    };
    await writer.submit(cast(1, "a"));
    const first = run({ matching: stuck });
    await requested.promise;
    await first.publisher.stop();
    expect([deliveries(), outboxBacklog(writer.db).events, first.publisher.stats().skippedEvents]).toEqual([
      [],
      1,
      0,
    ]);
    const second = run();
    await second.published(1);
    expect(deliveries()).toEqual([`cast.created → ${every}`]);
    await second.publisher.stop();
  });
});
