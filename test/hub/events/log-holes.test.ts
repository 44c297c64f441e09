import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setShardCount } from "../../../src/db/index/counts/totals.ts";
import { indexPath, openIndexReader, openIndexWriter } from "../../../src/db/index/database.ts";
import { claimNetwork } from "../../../src/db/index/identity.ts";
import { appendHubBlock, hasHubEventsAfter, sweepHubLog } from "../../../src/db/index/log/hub-log.ts";
import { createSubscribers } from "../../../src/hub/events/subscribers.ts";
import { EventSignal } from "../../../src/ingest/thread/rpc.ts";
import { firstEventId } from "../../../src/protocol/hub-event-id.ts";
import { HubEvent, HubEventType, SubscribeRequest } from "../../../src/protocol/wire/generated/hub.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { createHubReads } from "../../../src/read/hub/hub-reads.ts";
import { ManualClock } from "../../support/clock.ts";
import { DEFAULT_NOW_SECS } from "../../support/messages.ts";
import { expectOk } from "../../support/result.ts";

const disposals: (() => void)[] = [];
afterEach(() => {
  for (const dispose of disposals.splice(0).reverse()) dispose();
});

/** The log of a node that follows two shards, and its subscribers. */
function openLog() {
  const dir = mkdtempSync(join(tmpdir(), "log-holes-test-"));
  disposals.push(() => rmSync(dir, { recursive: true, force: true }));
  const db = openIndexWriter(indexPath(dir));
  claimNetwork(db, "mainnet");
  setShardCount(db, 2);
  const reader = openIndexReader(indexPath(dir));
  const arrivals = new EventSignal();
  const reads = createHubReads({
    db: reader,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock: new ManualClock(DEFAULT_NOW_SECS),
  });
  const subscribers = createSubscribers({
    reads,
    async awaitEvents(afterSeq) {
      while (!hasHubEventsAfter(db, afterSeq)) await arrivals.next();
    },
    heartbeat: undefined,
    maxSubscribers: 8,
    maxPerAddress: 8,
    onFault(cause) {
      throw cause;
    },
  });
  disposals.push(
    () => db[Symbol.dispose](),
    () => reader[Symbol.dispose](),
  );
  return {
    reads,
    /** Appends a block with two events. */
    append(shard: number, height: number) {
      const event = { type: HubEventType.HUB_EVENT_TYPE_PRUNE_MESSAGE, fid: 1, body: new Uint8Array() };
      const events = [1, 2].map((n) => ({ ...event, id: firstEventId(height) + n }));
      db.transaction(() =>
        appendHubBlock(db, { shard, height, at: height, hash: new Uint8Array(), seqnum: 0, events }),
      );
      arrivals.raise();
    },
    /** Deletes the blocks of a shard below a height. */
    sweep(shard: number, height: number) {
      db.transaction(() => sweepHubLog(db, shard, { before: height, maxEvents: 1000 }));
    },
    /** Subscribes; the events are read one by one. */
    async subscribe(request: Partial<SubscribeRequest>) {
      const abort = new AbortController();
      disposals.push(() => abort.abort());
      const opened = await subscribers.subscribe(
        Buffer.from(SubscribeRequest.encode(SubscribeRequest.fromPartial(request)).finish()),
        {
          peer: "127.0.0.1",
          client: { address: "127.0.0.1", bucket: "127.0.0.1" },
          clientKey: "",
          signal: abort.signal,
          metadata: () => undefined,
          sendMetadata() {},
        },
      );
      const events = expectOk(opened).responses[Symbol.asyncIterator]();
      return async (count: number): Promise<number[]> => {
        const ids: number[] = [];
        while (ids.length < count) {
          const { value, done } = await events.next();
          if (done) break;
          ids.push(...value.map((event) => HubEvent.decode(event).id));
        }
        return ids;
      };
    },
  };
}

const blockIds = (...heights: number[]) =>
  heights.flatMap((height) => [0, 1, 2].map((n) => firstEventId(height) + n));
const PRUNED = /the events after the last one are gone/;

describe("a subscriber", () => {
  test("of one shard gets everything although events of another shard between them are deleted", async () => {
    const log = openLog();
    for (const height of [10, 11, 12, 13]) for (const shard of [1, 2]) log.append(shard, height);
    log.sweep(1, 13);
    const next = await log.subscribe({ shardIndex: 2, fromId: 0 });
    expect(await next(12)).toEqual(blockIds(10, 11, 12, 13));
  });

  test("of all shards begins where each of them begins", async () => {
    const log = openLog();
    for (const height of [10, 11, 12]) for (const shard of [1, 2]) log.append(shard, height);
    log.sweep(1, 12);
    const next = await log.subscribe({ fromId: 0 });
    expect((await next(12)).toSorted((a, b) => a - b)).toEqual(
      [...blockIds(10, 11, 12), ...blockIds(12)].toSorted((a, b) => a - b),
    );
  });

  test("from now on gets new events after everything was deleted", async () => {
    const log = openLog();
    log.append(1, 10);
    log.sweep(1, 11);
    const next = await log.subscribe({ shardIndex: 1 });
    log.append(1, 11);
    expect(await next(3)).toEqual(blockIds(11));
  });

  test("is ended where the log began again, also when that is the first block that it would get", async () => {
    const log = openLog();
    log.append(1, 10);
    const resumed = await log.subscribe({ shardIndex: 1, fromId: firstEventId(10) + 2 });
    const live = await log.subscribe({ shardIndex: 1 });
    log.append(1, 20);
    expect(await resumed(1)).toEqual([firstEventId(10) + 2]);
    await expect(resumed(1)).rejects.toThrow(PRUNED);
    await expect(live(1)).rejects.toThrow(PRUNED);
  });

  test("is ended when the rest of the block that it reads was deleted", async () => {
    const log = openLog();
    for (const height of [10, 11, 12]) log.append(1, height);
    const next = await log.subscribe({ shardIndex: 1, fromId: firstEventId(10) + 1 });
    log.sweep(1, 11);
    await expect(next(1)).rejects.toThrow(PRUNED);
  });
});
