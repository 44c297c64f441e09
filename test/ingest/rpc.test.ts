import { expect, test } from "bun:test";
import { eventsAfter } from "../../src/db/index/outbox.ts";
import { awaitEvents, deleteEvents, ingestStats } from "../../src/ingest/rpc.ts";
import { DEFAULT_NOW_SECS } from "../support/messages.ts";
import { cast } from "../support/records.ts";
import { startTestWriter } from "../support/writer.ts";

test("whoever waits for events hears of those that are there at once, and of others when they are durable", async () => {
  using writer = await startTestWriter(1);
  let heard = 0;
  const waiting = [0, 0, 1].map((after) => awaitEvents(writer.client, after).then(() => heard++));
  // An answer to a later question: those to the earlier ones would have come before it.
  await ingestStats(writer.client);
  expect(heard).toBe(0);
  await writer.submit(cast(1, "a"));
  await Promise.all(waiting.slice(0, 2));
  expect(eventsAfter(writer.reader, 0, 10)).toHaveLength(1);
  await awaitEvents(writer.client, 0);
  expect(heard).toBe(2);
  await writer.submit(cast(1, "b"));
  await waiting[2];
});

test("published events are deleted up to a number, and the figures tell what is left", async () => {
  using writer = await startTestWriter(1);
  const outbox = async () => (await ingestStats(writer.client)).outbox;
  expect(await outbox()).toEqual({ events: 0, oldestAt: null });
  await writer.submit(cast(1, "a"), cast(1, "b"));
  writer.clock.advanceSecs(5);
  await writer.submit(cast(1, "c"));
  expect(await outbox()).toEqual({ events: 3, oldestAt: DEFAULT_NOW_SECS });
  await deleteEvents(writer.client, eventsAfter(writer.reader, 0, 2).at(-1)?.seq ?? 0);
  expect(await outbox()).toEqual({ events: 1, oldestAt: DEFAULT_NOW_SECS + 5 });
  expect(eventsAfter(writer.reader, 0, 10)).toHaveLength(1);
});
