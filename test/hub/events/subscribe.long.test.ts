import { describe, expect, test } from "bun:test";
import {
  type ClientReadableStream,
  getInsecureHubRpcClient,
  type HubEvent,
  HubEventType,
  MessageData,
  Metadata,
  type ServiceError,
  type SubscribeRequest,
  status,
  HubEvent as TheirHubEvent,
} from "@farcaster/hub-nodejs";
import { Client, credentials } from "@grpc/grpc-js";
import { sweepHubLog } from "../../../src/db/index/log/hub-log.ts";
import { jumpHash } from "../../../src/hub/events/subscribe-request.ts";
import { blockOfEvent, firstEventId } from "../../../src/protocol/hub-event-id.ts";
import { type LoggedNode, startLoggedNode } from "../../support/logged-node.ts";
import { IS_LONG } from "../../support/long.ts";
import { DEFAULT_TIMESTAMP, signedCast } from "../../support/messages.ts";
import { accountRecords, accountSigner } from "../../support/node.ts";

/** With the confirmations of their blocks 5,000 events in the long form. */
const MESSAGES = IS_LONG ? 4500 : 450;

const cast = (fid: number, n: number) => ({
  kind: "message" as const,
  bytes: signedCast(fid, `cast ${n}`, accountSigner(fid), { timestamp: DEFAULT_TIMESTAMP + n }),
});

/** A subscription of the official client, and what it has received. */
class Subscription {
  readonly events: HubEvent[] = [];
  readonly metadata = Promise.withResolvers<Metadata>();
  readonly ended = Promise.withResolvers<ServiceError | undefined>();
  readonly #stream: ClientReadableStream<HubEvent>;
  readonly #close: () => void;
  #arrival = Promise.withResolvers<void>();

  constructor(stream: ClientReadableStream<HubEvent>, close: () => void) {
    this.#stream = stream;
    this.#close = close;
    stream.on("metadata", (metadata: Metadata) => this.metadata.resolve(metadata));
    stream.on("data", (event: HubEvent) => {
      this.events.push(event);
      this.#arrival.resolve();
      this.#arrival = Promise.withResolvers();
    });
    stream.on("error", (cause: ServiceError) => this.ended.resolve(cause));
    stream.on("end", () => this.ended.resolve(undefined));
  }

  get ids(): number[] {
    return this.events.map(({ id }) => id);
  }

  async until(isDone: () => boolean): Promise<void> {
    while (!isDone()) await this.#arrival.promise;
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  cancel(): void {
    this.#stream.cancel();
    this.#close();
  }
}

async function subscribe(
  node: LoggedNode,
  request: Partial<SubscribeRequest> & { totalShards?: number },
  metadata = new Metadata(),
): Promise<Subscription> {
  // A connection of its own: a stream that is not read fills the window of its connection.
  const client = getInsecureHubRpcClient(node.hub.address, { "grpc.use_local_subchannel_pool": 1 });
  const stream = await client.subscribe({ eventTypes: [], ...request }, metadata);
  return new Subscription(stream._unsafeUnwrap() as ClientReadableStream<HubEvent>, () => client.close());
}

/** Merges casts in commits of 50, so that fewer are synced. */
function mergeMany(node: LoggedNode, count: number): void {
  for (let n = 0; n < count; n += 50) node.merge(...Array.from({ length: 50 }, (_, at) => cast(1, n + at)));
}

function allIds(node: LoggedNode): number[] {
  return node.db.sqlite
    .query<{ id: number }, []>("SELECT id FROM hub_events ORDER BY seq")
    .all()
    .map(({ id }) => id);
}

const MERGE = HubEventType.MERGE_MESSAGE;
const CONFIRMED = 11 as HubEventType;

describe("Subscribe", () => {
  test("from 0 gets every event once and in order, those of a replay and those that are merged meanwhile", async () => {
    await using node = await startLoggedNode();
    node.merge(...accountRecords(1), ...accountRecords(2));
    const all = await subscribe(node, { fromId: 0 });
    // Blocks of 1 to 10 messages; the first ones are a replay.
    for (let n = 0; n < MESSAGES; ) {
      const size = 1 + (n % 10);
      node.merge(...Array.from({ length: size }, (_, at) => cast(1 + (at % 2), n + at)));
      n += size;
      if (n > MESSAGES / 3 && n % 7 === 0) await Bun.sleep(0);
    }
    const expected = allIds(node);
    expect(expected.length).toBeGreaterThan(MESSAGES * 1.1);
    await all.until(() => all.ids.length >= expected.length);
    expect(all.ids).toEqual(expected);
    const blocks = Map.groupBy(all.ids, blockOfEvent);
    for (const { id, blockConfirmedBody } of all.events.filter(({ type }) => type === CONFIRMED))
      expect(blockConfirmedBody?.totalEvents).toBe(blocks.get(blockOfEvent(id))?.length ?? 0);
    all.cancel();
  });

  test("sends messages with data and data_bytes, and the block, shard and time of each event", async () => {
    await using node = await startLoggedNode();
    node.merge(...accountRecords(1), cast(1, 1));
    const merges = await subscribe(node, { fromId: 0, eventTypes: [MERGE] });
    await merges.until(() => merges.events.length > 0);
    const [event] = merges.events;
    const message = event?.mergeMessageBody?.message;
    expect(message?.data?.castAddBody?.text).toBe("cast 1");
    expect(MessageData.toJSON(MessageData.decode(message?.dataBytes ?? new Uint8Array()))).toEqual(
      MessageData.toJSON(message?.data as MessageData),
    );
    expect(event?.blockNumber).toBe(blockOfEvent(event?.id ?? 0));
    expect(event?.shardIndex).toBe(1);
    expect(event?.timestamp).toBe(node.clock.nowMs() / 1000 - 1_609_459_200);
    merges.cancel();
  });

  test("a resume at the last id repeats only that event", async () => {
    await using node = await startLoggedNode();
    node.merge(...accountRecords(1));
    for (let n = 0; n < 20; n++) node.merge(cast(1, n));
    const ids = allIds(node);
    const first = await subscribe(node, { fromId: 0 });
    await first.until(() => first.ids.length >= 12);
    first.cancel();
    const seen = first.ids.slice(0, 12);
    const resumed = await subscribe(node, { fromId: seen.at(-1) });
    await resumed.until(() => resumed.ids.length >= ids.length - 11);
    expect([...seen, ...resumed.ids.slice(1)]).toEqual(ids);
    expect(resumed.ids[0]).toBe(seen.at(-1) ?? 0);
    resumed.cancel();
  });

  test("without an id gets only new events", async () => {
    await using node = await startLoggedNode();
    node.merge(...accountRecords(1), cast(1, 0));
    const live = await subscribe(node, { eventTypes: [MERGE] });
    await live.metadata.promise;
    node.merge(cast(1, 1));
    await live.until(() => live.events.length > 0);
    expect(live.events.map((event) => event.mergeMessageBody?.message?.data?.castAddBody?.text)).toEqual([
      "cast 1",
    ]);
    live.cancel();
  });

  test("an id before the log begins with the oldest event and says so, or is refused to a strict client", async () => {
    await using node = await startLoggedNode();
    node.merge(...accountRecords(1), cast(1, 0));
    const [first = 0] = allIds(node);
    node.merge(cast(1, 1));
    node.db.transaction(() => sweepHubLog(node.db, 1, { before: 2 ** 40, maxEvents: 1 }));
    const ids = allIds(node);
    const late = await subscribe(node, { fromId: first });
    await late.until(() => late.ids.length >= ids.length);
    expect(late.ids).toEqual(ids);
    const metadata = await late.metadata.promise;
    expect(metadata.get("x-events-missing")).toEqual(["1"]);
    expect(metadata.get("x-oldest-event-id")).toEqual([`1=${ids[0]}`]);
    expect(metadata.get("x-head-event-id")).toEqual([`1=${ids.at(-1)}`]);
    late.cancel();
    const strictly = new Metadata();
    strictly.set("x-strict-from-id", "1");
    const strict = await subscribe(node, { fromId: first }, strictly);
    const refusal = await strict.ended.promise;
    expect([refusal?.code, refusal?.details]).toEqual([
      status.OUT_OF_RANGE,
      `events before ${ids[0]} are gone`,
    ]);
    expect(refusal?.metadata.get("x-err-code")).toEqual(["bad_request.events_pruned"]);
  });

  test("an id a little ahead waits for that event; one far ahead belongs to another node", async () => {
    await using node = await startLoggedNode();
    node.merge(...accountRecords(1));
    const head = blockOfEvent(allIds(node).at(-1) ?? 0);
    const ahead = await subscribe(node, { fromId: firstEventId(head + 3) });
    await ahead.metadata.promise;
    for (let n = 0; n < 4; n++) node.merge(cast(1, n));
    await ahead.until(() => ahead.ids.length >= 4);
    expect(ahead.ids[0]).toBe(firstEventId(head + 3));
    ahead.cancel();
    const far = await subscribe(node, { fromId: firstEventId(head + 10_000) });
    expect((await far.ended.promise)?.code).toBe(status.INVALID_ARGUMENT);
  });

  test("an unknown shard is refused; 0 means all", async () => {
    await using node = await startLoggedNode();
    node.merge(...accountRecords(1));
    const unknown = await subscribe(node, { shardIndex: 2 });
    expect((await unknown.ended.promise)?.details).toBe("no such shard");
    const all = await subscribe(node, { shardIndex: 0, fromId: 0 });
    await all.until(() => all.ids.length >= allIds(node).length);
    all.cancel();
  });

  test("a client that takes nothing for too long is ended, and the others get everything", async () => {
    await using node = await startLoggedNode({ stallTimeoutMs: 3_000 });
    node.merge(...accountRecords(1, 20));
    const stopped = await subscribe(node, { fromId: 0 });
    stopped.pause();
    mergeMany(node, 2000);
    const reader = await subscribe(node, { fromId: 0 });
    const expected = allIds(node);
    await reader.until(() => reader.ids.length >= expected.length);
    expect(reader.ids).toEqual(expected);
    while (node.subscribers.stats().ended.slow === 0) await Bun.sleep(20);
    expect(node.subscribers.stats().subscribers).toBe(1);
    reader.cancel();
  });

  test("a client that retention overtakes gets an error that events have expired", async () => {
    await using node = await startLoggedNode({ heartbeatIntervalMs: 100 });
    node.merge(...accountRecords(1, 20));
    const slow = await subscribe(node, { fromId: 0 });
    slow.pause();
    await slow.metadata.promise;
    mergeMany(node, 2000);
    while (node.db.transaction(() => sweepHubLog(node.db, 1, { before: 2 ** 40, maxEvents: 1000 })) > 0) {}
    slow.resume();
    const refusal = await slow.ended.promise;
    expect([refusal?.code, refusal?.metadata.get("x-err-code")]).toEqual([
      status.OUT_OF_RANGE,
      ["bad_request.events_pruned"],
    ]);
    slow.cancel();
  });

  test("a limited number of streams of one address, which a trusted proxy names, and in total, may be open at a time", async () => {
    await using node = await startLoggedNode({ maxPerAddress: 2, maxSubscribers: 3 });
    const open = [await subscribe(node, {}), await subscribe(node, {})];
    for (const one of open) await one.metadata.promise;
    const third = await subscribe(node, {});
    expect((await third.ended.promise)?.code).toBe(status.RESOURCE_EXHAUSTED);
    const proxied = new Metadata();
    proxied.add("x-forwarded-for", "192.0.2.1");
    proxied.add("x-forwarded-for", "127.0.0.2");
    open.push(await subscribe(node, {}, proxied));
    await open[2]?.metadata.promise;
    const fourth = await subscribe(node, {}, proxied);
    expect((await fourth.ended.promise)?.details).toContain("too many subscribers; try again");
    for (const one of open) one.cancel();
    while (node.subscribers.stats().subscribers > 0) await Bun.sleep(5);
    const again = await subscribe(node, {});
    await again.metadata.promise;
    again.cancel();
  });

  test("the last fifth of the streams is for addresses without one", async () => {
    await using node = await startLoggedNode({ maxPerAddress: 8, maxSubscribers: 5 });
    const from = (address: string) => {
      const metadata = new Metadata();
      metadata.add("x-forwarded-for", address);
      metadata.add("x-forwarded-for", "127.0.0.2");
      return subscribe(node, {}, metadata);
    };
    const open = [];
    for (let n = 0; n < 4; n++) open.push(await from("192.0.2.1"));
    for (const one of open) await one.metadata.promise;
    expect((await (await from("192.0.2.1")).ended.promise)?.details).toContain("too many subscribers");
    const other = await from("192.0.2.2");
    await other.metadata.promise;
    for (const one of [...open, other]) one.cancel();
  });

  test("an idle node writes a block while anyone subscribes", async () => {
    await using node = await startLoggedNode({ heartbeatIntervalMs: 20 });
    node.merge(...accountRecords(1));
    const before = allIds(node).length;
    const live = await subscribe(node, {});
    await live.until(() => live.events.length >= 2);
    expect(live.events.every(({ type }) => type === CONFIRMED)).toBe(true);
    expect(allIds(node).length).toBeGreaterThan(before);
    live.cancel();
  });

  test("a node that stops ends the streams as unavailable", async () => {
    await using node = await startLoggedNode();
    const live = await subscribe(node, {});
    await live.metadata.promise;
    node.subscribers.stop();
    expect((await live.ended.promise)?.code).toBe(status.UNAVAILABLE);
  });
});

describe("clients of the retired hub", () => {
  test("that divide the fids among them get every message event once together", async () => {
    await using node = await startLoggedNode();
    const fids = Array.from({ length: 12 }, (_, at) => at + 1);
    for (const fid of fids) node.merge(...accountRecords(fid));
    for (let n = 0; n < 60; n++) node.merge(cast(1 + (n % 12), n));
    const rows = node.db.sqlite
      .query<{ id: number; type: HubEventType; fid: number }, []>("SELECT id, type, fid FROM hub_events")
      .all();
    const got: number[] = [];
    const done = Promise.withResolvers<void>();
    const clients = Array.from({ length: 10 }, (_, part) => {
      const client = new Client(node.hub.address, credentials.createInsecure(), {
        "grpc.use_local_subchannel_pool": 1,
      });
      // from_id 0, total_shards 10, shard_index: the official library has lost the field in the middle.
      const request = Buffer.of(0x10, 0, 0x18, 10, 0x20, part);
      client
        .makeServerStreamRequest(
          "/HubService/Subscribe",
          (bytes: Buffer) => bytes,
          (bytes: Buffer) => TheirHubEvent.decode(bytes),
          request,
        )
        .on("error", done.reject)
        .on("data", ({ id, mergeMessageBody }: HubEvent) => {
          got.push(id);
          const fid = mergeMessageBody?.message?.data?.fid;
          if (fid !== undefined && jumpHash(fid, 10) !== part)
            done.reject(new Error(`part ${part} got a message of ${fid}`));
          if (got.length === rows.length) done.resolve();
        });
      return client;
    });
    try {
      await done.promise;
    } finally {
      for (const client of clients) client.close();
    }
    expect(got.toSorted((a, b) => a - b)).toEqual(rows.map(({ id }) => id).toSorted((a, b) => a - b));
    expect(new Set(fids.map((fid) => jumpHash(fid, 10))).size).toBeGreaterThan(4);
  });

  test("the hash of an fid is the jump consistent hash", () => {
    // Reference values of the published algorithm.
    expect([0, 1, 2, 3, 10, 1000].map((key) => jumpHash(key, 1))).toEqual([0, 0, 0, 0, 0, 0]);
    for (let key = 0; key < 500; key++) {
      const ten = jumpHash(key, 10);
      const eleven = jumpHash(key, 11);
      expect(eleven === ten || eleven === 10).toBe(true);
    }
  });
});

describe("GetEvents and GetEvent", () => {
  test("page in both directions without loss or repeat, and end", async () => {
    await using node = await startLoggedNode();
    node.merge(...accountRecords(1));
    for (let n = 0; n < 30; n++) node.merge(cast(1, n));
    const ids = allIds(node);
    for (const reverse of [false, true]) {
      const read: number[] = [];
      let pageToken: Uint8Array | undefined;
      do {
        const page = await node.hub.client.getEvents({
          startId: 0,
          pageSize: 7,
          reverse,
          ...(pageToken && { pageToken }),
        });
        const { events, nextPageToken } = page._unsafeUnwrap();
        read.push(...events.map(({ id }) => id));
        pageToken = nextPageToken;
      } while (pageToken);
      expect(read).toEqual(reverse ? ids.toReversed() : ids);
    }
    const [second = 0, third = 0] = ids.slice(1);
    const range = await node.hub.client.getEvents({ startId: second, stopId: third });
    expect(range._unsafeUnwrap().events.map(({ id }) => id)).toEqual([second]);
  });

  test("a page after events that have expired is refused, with the oldest id, in both directions", async () => {
    await using node = await startLoggedNode();
    node.merge(...accountRecords(1));
    for (let n = 0; n < 30; n++) node.merge(cast(1, n));
    const page = async (reverse: boolean, pageToken?: Uint8Array) =>
      node.hub.client.getEvents({ startId: 0, pageSize: 7, reverse, ...(pageToken && { pageToken }) });
    const forward = (await page(false))._unsafeUnwrap().nextPageToken;
    const nearlyAll = await node.hub.client.getEvents({
      startId: 0,
      pageSize: allIds(node).length - 2,
      reverse: true,
    });
    const backward = nearlyAll._unsafeUnwrap().nextPageToken;
    const newest = (await page(true))._unsafeUnwrap().nextPageToken;
    node.db.transaction(() => sweepHubLog(node.db, 1, { before: 2 ** 40, maxEvents: 20 }));
    const oldest = (await page(false))._unsafeUnwrap().events[0]?.id;
    for (const [reverse, token] of [
      [false, forward],
      [true, backward],
    ] as const) {
      const error = (await page(reverse, token))._unsafeUnwrapErr();
      expect([error.errCode, error.message]).toEqual([
        "bad_request.events_pruned",
        `events before ${oldest} are gone`,
      ]);
    }
    expect((await page(true, newest))._unsafeUnwrap().events.length).toBe(7);
  });

  test("one event is found by its id; a missing one is not found", async () => {
    await using node = await startLoggedNode();
    node.merge(...accountRecords(1));
    const [, second = 0] = allIds(node);
    const found = await node.hub.client.getEvent({ id: second, shardIndex: 1 });
    expect(found._unsafeUnwrap().id).toBe(second);
    const missing = await node.hub.client.getEvent({ id: second + 500, shardIndex: 0 });
    expect(missing._unsafeUnwrapErr().errCode).toBe("not_found");
  });
});
