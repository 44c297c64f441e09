import { expect, test } from "bun:test";
import { eventsAfter } from "../../src/db/index/log/outbox.ts";
import { getPosition } from "../../src/db/index/positions.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import { createLogRetention } from "../../src/ingest/thread/log-retention.ts";
import { IngestQueue } from "../../src/ingest/thread/queue.ts";
import { EventSignal, type IngestRpc, serveIngest } from "../../src/ingest/thread/rpc.ts";
import { connectRpc } from "../../src/lib/port-rpc.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP } from "../support/messages.ts";
import { cast } from "../support/records.ts";
import { startTestWriter } from "../support/writer.ts";

test("awaitEvents resolves at once for stored events, and for later ones when they are durable", async () => {
  using writer = await startTestWriter(1);
  let returned = 0;
  const waiting = [0, 0, 1].map((after) => writer.client.awaitEvents(after).then(() => returned++));
  // The response to a later request: responses to the earlier ones would have arrived before it.
  await writer.client.stats();
  expect(returned).toBe(0);
  await writer.submit(cast(1, "a"));
  await Promise.all(waiting.slice(0, 2));
  expect(eventsAfter(writer.reader, 0, 10)).toHaveLength(1);
  await writer.client.awaitEvents(0);
  expect(returned).toBe(2);
  await writer.submit(cast(1, "b"));
  await waiting[2];
});

test("awaitHubEvents resolves at once for logged events, and for later ones when they are durable", async () => {
  using writer = await startTestWriter(1);
  let returned = 0;
  const append = (height: number) =>
    writer.client.relay({
      ops: [],
      positions: [],
      hubBlocks: [{ shard: 1, height, at: DEFAULT_TIMESTAMP, hash: new Uint8Array(), seqnum: 0, events: [] }],
    });
  const waiting = [0, 1].map((after) => writer.client.awaitHubEvents(after).then(() => returned++));
  await writer.client.stats();
  expect(returned).toBe(0);
  // A commit without events of the log wakes up nobody.
  await writer.submit(cast(1, "a"));
  await writer.client.stats();
  expect(returned).toBe(0);
  await append(5);
  await waiting[0];
  await writer.client.awaitHubEvents(0);
  expect(returned).toBe(1);
  await append(6);
  await waiting[1];
});

test("markPublished moves the position, also to events that stay, and the stats count the rest", async () => {
  using writer = await startTestWriter(1);
  const outbox = async () => (await writer.client.stats()).outbox;
  expect(await outbox()).toEqual({ events: 0, oldestAt: null });
  await writer.submit(cast(1, "a"), cast(1, "b"));
  writer.clock.advanceSecs(5);
  await writer.submit(cast(1, "c"));
  expect(await outbox()).toEqual({ events: 3, oldestAt: DEFAULT_NOW_SECS });
  await writer.client.markPublished(eventsAfter(writer.reader, 0, 2).at(-1)?.seq ?? 0);
  expect(await outbox()).toEqual({ events: 1, oldestAt: DEFAULT_NOW_SECS + 5 });
  await writer.client.markPublished(1);
  expect((await outbox()).events).toBe(1);
  expect(eventsAfter(writer.reader, 0, 10)).toHaveLength(3);
});

test("an upstream's batch is not written while the index has no room, and a fault of it is the caller's", async () => {
  using writer = await startTestWriter(1);
  const { db, clock } = writer;
  let isFull = true;
  const bound = { isFull: () => isFull, size: () => ({ bytes: 1, maxBytes: 1, isFull }), setPhase: () => {} };
  const engine = createIngestEngine({
    ...{ db, clock, bound, network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET },
    onFault: (cause) => {
      throw cause;
    },
  });
  const { port1, port2 } = new MessageChannel();
  serveIngest(port1, {
    ...{ db, engine, bound, queue: new IngestQueue(engine) },
    ...{ newEvents: new EventSignal(), newHubEvents: new EventSignal() },
    retention: createLogRetention({ db, clock, outboxSecs: 3600, hubLogSecs: 3600 }),
  });
  const client = connectRpc<IngestRpc>(port2);
  const relay = () => client.relay({ ops: [], positions: [{ key: "upstream 1 applied", position: 7 }] });
  expect([await client.hasRoom(), await relay()]).toEqual([false, false]);
  expect(getPosition(db, "upstream 1 applied")).toBeUndefined();
  isFull = false;
  expect([await client.hasRoom(), await relay()]).toEqual([true, true]);
  expect(getPosition(db, "upstream 1 applied")).toBe(7);
  db.beforeStatement = (name) => {
    if (name.startsWith("positions.")) throw new Error("no position");
  };
  expect(await relay().catch((cause: Error) => cause.message)).toBe("no position");
  port1.close();
  port2.close();
});
