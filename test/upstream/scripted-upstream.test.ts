import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  getInsecureHubRpcClient,
  HubEventType,
  type HubRpcClient,
  MessageType,
  OnChainEventType,
  type HubEvent as TheirEvent,
} from "@farcaster/hub-nodejs";
import { Store } from "../../src/protocol/message/merge-rules.ts";
import { liveMessages } from "../support/live-messages.ts";
import { eventId, heightAt } from "../support/upstream/blocks.ts";
import { type Chain, makeChain } from "../support/upstream/chain.ts";
import { UpstreamNode } from "../support/upstream/node.ts";
import { UpstreamServer } from "../support/upstream/server.ts";
import { DATA_SHARDS, shardOf } from "../support/upstream/shards.ts";

/** Checks with the official client that the scripted upstream behaves as the protocol facts describe. */

const TICKS = 70;
const HISTORY = 50;

let chain: Chain;
let node: UpstreamNode;
let server: UpstreamServer;
let client: HubRpcClient;

beforeAll(async () => {
  chain = makeChain("the scripted upstream", TICKS);
  node = new UpstreamNode(chain);
  node.produce(HISTORY);
  server = new UpstreamServer(node);
  await server.start();
  client = getInsecureHubRpcClient(server.url.slice("http://".length));
});

afterAll(() => {
  client.$.close();
  server.stop();
});

test("a seed determines the network, and a few seeds cover every kind of event", () => {
  const again = makeChain("the scripted upstream", TICKS);
  expect(again.referenceDump).toBe(chain.referenceDump);
  const kinds = new Set(
    ["a", "b", "c"].flatMap((seed) =>
      makeChain(seed, 120).ticks.flatMap(({ data }) =>
        data.flatMap(({ events }) =>
          events.map(({ type, id, body }) => `${type} ${id === 0} ${body?.$case}`),
        ),
      ),
    ),
  );
  expect([...kinds].sort()).toEqual([
    "1 false mergeMessageBody",
    "1 true mergeMessageBody",
    "10 false mergeFailure",
    "11 false blockConfirmedBody",
    "2 false pruneMessageBody",
    "3 false revokeMessageBody",
    "6 false mergeUsernameProofBody",
    "9 false mergeOnChainEventBody",
  ]);
});

test("GetInfo reports the shards and their heights", async () => {
  const info = (await client.getInfo({ dbStats: true }))._unsafeUnwrap();
  expect(info.numShards).toBe(2);
  expect(info.shardInfos.map(({ shardId, maxHeight }) => [shardId, maxHeight])).toEqual(
    [0, ...DATA_SHARDS].map((shard) => [shard, heightAt(shard, HISTORY - 1)]),
  );
});

test("GetFids pages by registry events: pages may be short, and an fid that registered twice is listed twice", async () => {
  const fids: number[] = [];
  const lengths: number[] = [];
  for (const shardId of DATA_SHARDS) {
    let pageToken: Uint8Array | undefined;
    do {
      const page = (await client.getFids({ shardId, pageSize: 2, pageToken }))._unsafeUnwrap();
      fids.push(...page.fids);
      lengths.push(page.fids.length);
      pageToken = page.nextPageToken;
    } while (pageToken !== undefined);
  }
  expect(lengths).toContain(1);
  expect(new Set(fids).size).toBe(fids.length - 1);
  const info = (await client.getInfo({ dbStats: true }))._unsafeUnwrap();
  expect(info.dbStats?.numFidRegistrations).toBe(new Set(fids).size);
});

describe("GetEvents", () => {
  const range = (shardIndex: number, tick: number) => ({
    shardIndex,
    startId: eventId(heightAt(shardIndex, tick), 0),
    stopId: eventId(heightAt(shardIndex, tick + 1), 0),
  });

  test("returns a block whose first event counts the others, except those of gasless keys", async () => {
    for (const shard of DATA_SHARDS) {
      for (let tick = 0; tick < HISTORY; tick++) {
        const { events } = (await client.getEvents(range(shard, tick)))._unsafeUnwrap();
        const [confirmed, ...rest] = events;
        const body = confirmed?.blockConfirmedBody;
        const keyEvents =
          chain.ticks[tick]?.data
            .find((block) => block.shard === shard)
            ?.events.filter(({ id }) => id === 0) ?? [];
        expect(body?.blockNumber).toBe(heightAt(shard, tick));
        expect(body?.totalEvents).toBe(events.length + keyEvents.length);
        expect(rest.map(({ id }) => id)).toEqual(rest.map((_, at) => eventId(heightAt(shard, tick), at + 1)));
      }
    }
  });

  test("always returns a token, and the last one starts again", async () => {
    const request = range(1, 8);
    const tokens: string[] = [];
    const ids: number[][] = [];
    let pageToken: Uint8Array | undefined;
    do {
      const page = (await client.getEvents({ ...request, pageSize: 40, pageToken }))._unsafeUnwrap();
      pageToken = page.nextPageToken;
      tokens.push(Buffer.from(pageToken ?? []).toString());
      ids.push(page.events.map(({ id }) => id));
    } while (tokens.at(-1) !== "[null]");
    const again = (await client.getEvents({ ...request, pageSize: 40, pageToken }))._unsafeUnwrap();
    expect(again.events.map(({ id }) => id)).toEqual(ids[0] ?? []);
    expect(new Set(ids.flat()).size).toBe(ids.flat().length);
  });

  test("from 0 returns the stray events of height 0, and then the oldest stored ones without an error", async () => {
    const from0 = (await client.getEvents({ shardIndex: 2, startId: 0, pageSize: 1 }))._unsafeUnwrap();
    expect(from0.events[0]?.id).toBeLessThan(eventId(1, 0));
    node.eventsFrom = 30;
    const pruned = (
      await client.getEvents({ shardIndex: 2, startId: eventId(1, 0), pageSize: 1 })
    )._unsafeUnwrap();
    node.eventsFrom = 0;
    expect(pruned.events[0]?.id).toBe(eventId(heightAt(2, 30), 0));
  });
});

test("the responses by fid together equal the reference index that is built from the events", async () => {
  const all = new UpstreamNode(chain);
  all.produce(TICKS);
  const whole = new UpstreamServer(all);
  await whole.start();
  const wholeClient = getInsecureHubRpcClient(whole.url.slice("http://".length));
  const fids = new Set(all.states.flatMap((state) => state.onChainEvents().map(({ fid }) => fid)));
  const returned: string[] = [];
  for (const fid of fids) {
    for (const method of [
      wholeClient.getAllCastMessagesByFid,
      wholeClient.getAllReactionMessagesByFid,
      wholeClient.getAllLinkMessagesByFid,
      wholeClient.getAllVerificationMessagesByFid,
      wholeClient.getAllUserDataMessagesByFid,
      wholeClient.getAllLendStorageMessagesByFid,
      wholeClient.getLinkCompactStateMessageByFid,
    ]) {
      const { messages } = (await method({ fid }))._unsafeUnwrap();
      returned.push(...messages.map(({ hash }) => Buffer.from(hash).toString("hex")));
    }
  }
  wholeClient.$.close();
  whole.stop();
  const held = liveMessages(chain.reference.db)
    .filter(({ store }) => store !== Store.UsernameProofs && store !== Store.GaslessKeys)
    .map(({ hash }) => hash.toHex());
  expect(returned.sort()).toEqual(held.sort());
});

test("GetOnChainEvents combines two shards, GetUserNameProofsByFid all of them", async () => {
  const { events } = (
    await client.getOnChainEvents({ fid: 4, eventType: OnChainEventType.EVENT_TYPE_SIGNER })
  )._unsafeUnwrap();
  expect(events.length).toBeGreaterThan(1);
  expect(new Set(events.map(({ blockNumber }) => blockNumber)).size).toBe(events.length / 2);
  const fid = [1, 2, 3, 4, 5].find((one) => node.state(1).fnamesOf(one).length > 0) ?? 0;
  const { proofs } = (await client.getUserNameProofsByFid({ fid }))._unsafeUnwrap();
  const names = proofs
    .map(({ name }) => Buffer.from(name).toString())
    .filter((name) => !name.endsWith(".eth"));
  expect(new Set(names).size).toBe(names.length / 2);
});

describe("Subscribe", () => {
  test("without event types sends nothing; with them it sends each new block completely, key events without an id", async () => {
    const types = [1, 2, 3, 6, 9, 10, 11] as HubEventType[];
    const silent: TheirEvent[] = [];
    const received: TheirEvent[] = [];
    const wholeBlocks = Promise.withResolvers<void>();
    const last = heightAt(shardOf(2), TICKS - 1);
    const open = async (eventTypes: HubEventType[], take: (event: TheirEvent) => void) => {
      const stream = (await client.subscribe({ eventTypes, shardIndex: shardOf(2) }))._unsafeUnwrap();
      stream.on("data", take);
      return stream;
    };
    const nothing = await open([], (event) => silent.push(event));
    const everything = await open(types, (event) => {
      received.push(event);
      const total = received.findLast(
        ({ type }) => type === HubEventType.BLOCK_CONFIRMED,
      )?.blockConfirmedBody;
      const at = received.findLastIndex(({ type }) => type === HubEventType.BLOCK_CONFIRMED);
      if (total?.blockNumber === last && received.length - at === total.totalEvents) wholeBlocks.resolve();
    });
    // Both streams are open when a later call on the same connection has returned.
    await client.getInfo({ dbStats: true });
    node.produce(TICKS);
    await wholeBlocks.promise;
    nothing.cancel();
    everything.cancel();
    expect(silent).toEqual([]);
    const keyEvents = received.filter(({ id }) => id === 0);
    expect(keyEvents.length).toBeGreaterThan(0);
    expect(keyEvents.every(({ blockNumber }) => blockNumber === 0)).toBe(true);
    const compacts = received.filter(
      ({ mergeMessageBody: body }) => body?.message?.data?.type === MessageType.LINK_COMPACT_STATE,
    );
    expect(compacts.every(({ mergeMessageBody: body }) => body?.deletedMessages.length === 0)).toBe(true);
  });

  test("returns an error for shard 0", async () => {
    const stream = (await client.subscribe({ eventTypes: [1], shardIndex: 0 }))._unsafeUnwrap();
    const failed = await new Promise<unknown>((resolve) => stream.on("error", resolve));
    expect(failed).toBeInstanceOf(Error);
  });
});
