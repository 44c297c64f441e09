import { expect, test } from "bun:test";
import { eventsAfter } from "../../src/db/index/log/outbox.ts";
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
