import { expect, test } from "bun:test";
import type { ClientReadableStream, HubEvent, Metadata } from "@farcaster/hub-nodejs";
import { blockOfEvent } from "../../../src/protocol/hub-event-id.ts";
import { MessageType } from "../../../src/protocol/wire/generated/message.ts";
import { DEFAULT_NOW_SECS } from "../../support/messages.ts";
import { Scene, said } from "../../support/upstream/scene.ts";
import { serveIndex } from "../../support/upstream/served-index.ts";
import { DATA_SHARDS, shardOf } from "../../support/upstream/shards.ts";

const cast = (fid: number, text: string) =>
  said(fid, {
    type: MessageType.MESSAGE_TYPE_CAST_ADD,
    body: { $case: "castAddBody", value: { text, embeds: [], mentions: [], mentionsPositions: [] } },
  });

const FIDS = [1, 2, 3, 4];

test("a subscriber whose position is before a gap that a pass closed starts after it with x-events-missing, and gets nothing of the hole", async () => {
  await using scene = new Scene();
  scene.join(...FIDS);
  await scene.follow();
  for (const fid of FIDS) scene.happens(cast(fid, "before the gap"));
  await scene.settle();
  await using hub = await serveIndex(scene.index, DEFAULT_NOW_SECS);

  const headsBefore = new Map(DATA_SHARDS.map((shard) => [shard, scene.node.height(shard)]));
  await scene.index.stop();
  for (const fid of FIDS) scene.happens(cast(fid, "inside the gap"));
  scene.passes(3);
  const firstBehind = new Map(DATA_SHARDS.map((shard) => [shard, scene.node.height(shard) + 1]));
  scene.node.eventsFrom = scene.chain.ticks.length;
  scene.node.blocksFrom = scene.chain.ticks.length;
  scene.index.start();
  for (const fid of FIDS) scene.happens(cast(fid, "behind the gap"));
  await scene.settle();

  for (const shard of DATA_SHARDS) {
    const fromId = (headsBefore.get(shard) ?? 0) * 2 ** 14;
    const stream = (
      await hub.client.subscribe({ eventTypes: [], fromId, shardIndex: shard })
    )._unsafeUnwrap() as ClientReadableStream<HubEvent>;
    const events: HubEvent[] = [];
    const metadata = Promise.withResolvers<Metadata>();
    const complete = Promise.withResolvers<void>();
    stream.on("metadata", metadata.resolve);
    stream.on("error", complete.reject);
    stream.on("data", (event: HubEvent) => {
      events.push(event);
      if (blockOfEvent(event.id) === scene.node.height(shard)) complete.resolve();
    });
    await complete.promise;
    stream.removeListener("error", complete.reject);
    stream.on("error", () => undefined);
    stream.cancel();

    expect((await metadata.promise).get("x-events-missing")).toEqual(["1"]);
    const blocks = events.map(({ id }) => blockOfEvent(id));
    expect(Math.min(...blocks)).toBeGreaterThanOrEqual(firstBehind.get(shard) ?? 0);
    const texts = events.flatMap((event) => event.mergeMessageBody?.message?.data?.castAddBody?.text ?? []);
    expect(texts).toEqual(FIDS.filter((fid) => shardOf(fid) === shard).map(() => "behind the gap"));

    const page = await hub.client.getEvents({ startId: fromId, shardIndex: shard });
    const ids = page._unsafeUnwrap().events.map(({ id }) => id);
    expect(ids.every((id) => blockOfEvent(id) >= (firstBehind.get(shard) ?? 0))).toBe(true);
    expect(ids.length).toBeGreaterThanOrEqual(events.length);
  }
  // What happened inside the gap is read all the same.
  for (const fid of FIDS) {
    const casts = (await hub.client.getCastsByFid({ fid }))._unsafeUnwrap().messages;
    expect(casts.map(({ data }) => data?.castAddBody?.text)).toContain("inside the gap");
  }
});
