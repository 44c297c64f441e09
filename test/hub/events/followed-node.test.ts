import { expect, test } from "bun:test";
import {
  type ClientReadableStream,
  getInsecureHubRpcClient,
  type HubEvent,
  HubEventType,
} from "@farcaster/hub-nodejs";
import { firstEventId } from "../../../src/protocol/hub-event-id.ts";
import { createUpstreamClient } from "../../../src/upstream/calls/client.ts";
import { connectUpstream } from "../../../src/upstream/calls/connection.ts";
import { compareFids, knownFids } from "../../../src/upstream/verify/verify-sample.ts";
import { makeChain } from "../../support/upstream/chain.ts";
import { dumpFollowed } from "../../support/upstream/followed.ts";
import { FollowedIndex } from "../../support/upstream/followed-index.ts";
import { hubLogDifferences } from "../../support/upstream/hub-log.ts";
import { UpstreamNode } from "../../support/upstream/node.ts";
import { serveIndex } from "../../support/upstream/served-index.ts";
import { UpstreamServer } from "../../support/upstream/server.ts";
import { DATA_SHARDS } from "../../support/upstream/shards.ts";

const TICKS = 70;
const HISTORY = 30;
const MERGES = [HubEventType.MERGE_MESSAGE, HubEventType.MERGE_ON_CHAIN_EVENT];

/** Returns the ids of the merges of a shard from a checkpoint on, up to a block. */
async function readUpTo(address: string, shardIndex: number, fromId: number, height: number) {
  const client = getInsecureHubRpcClient(address, { "grpc.use_local_subchannel_pool": 1 });
  const opened = await client.subscribe({ eventTypes: [...MERGES, 11], shardIndex, fromId });
  const stream = opened._unsafeUnwrap() as ClientReadableStream<HubEvent>;
  const ids: number[] = [];
  let lastId = fromId;
  await new Promise<void>((resolve, reject) => {
    stream.on("error", reject);
    stream.on("data", ({ id, type }: HubEvent) => {
      if (id >= firstEventId(height)) return resolve();
      lastId = Math.max(lastId, id);
      if (MERGES.includes(type) && id > 0) ids.push(id);
    });
  });
  stream.removeAllListeners("error").on("error", () => undefined);
  stream.cancel();
  client.close();
  return { ids, lastId };
}

test("a second node follows the first, which follows the script: both have its state and its events, and a client moves between them with one checkpoint for each shard", async () => {
  const chain = makeChain("chained", TICKS);
  const upstream = new UpstreamNode(chain);
  upstream.produce(HISTORY);
  const indexes: FollowedIndex[] = [];
  const server = new UpstreamServer(upstream);
  await server.start();
  await using cleanup = new AsyncDisposableStack();
  // The calls of the second follower do not reach the scripted server, which wakes those that wait otherwise.
  const waking = setInterval(() => {
    for (const index of indexes) index.wake();
  }, 10);
  cleanup.defer(() => clearInterval(waking));
  cleanup.defer(() => server.stop());
  const follow = async (url: string) => {
    const index = new FollowedIndex({ node: upstream, url, nowSecs: chain.endsAt, stallMs: 3000 });
    indexes.push(index);
    cleanup.defer(() => index.stop());
    index.start();
    await index.caughtUp();
    return index;
  };
  const first = await follow(server.url);
  const hub = cleanup.use(await serveIndex(first, chain.endsAt));
  const second = await follow(`http://${hub.address}`);
  upstream.produce(TICKS);
  await Promise.all([first.caughtUp(), second.caughtUp()]);

  expect(dumpFollowed(second.db)).toBe(dumpFollowed(first.db));
  expect(chain.dumpOf(second.db)).toBe(chain.referenceDump);
  expect(hubLogDifferences(first.db, chain)).toEqual([]);
  expect(hubLogDifferences(second.db, chain)).toEqual([]);
  for (const table of ["gasless_keys", "storage_lends"])
    expect(second.db.sqlite.query(`SELECT 1 FROM ${table} LIMIT 1`).all().length).toBe(1);

  const connection = connectUpstream(`http://${hub.address}`);
  cleanup.defer(() => connection.close());
  const pace = { callTimeoutMs: 60_000, stallMs: 60_000 };
  const client = createUpstreamClient(connection, pace, new AbortController().signal);
  const fids = await knownFids({ client, db: second.db });
  const report = await compareFids(
    { client, db: second.db, concurrency: 8, settle: async () => {}, nameServer: undefined },
    [...fids],
  );
  expect(report.differences).toEqual([]);

  const served = cleanup.use(await serveIndex(second, chain.endsAt));
  const scripted = server.url.slice("http://".length);
  for (const shard of DATA_SHARDS) {
    const head = upstream.height(shard);
    const start = firstEventId(head - (TICKS - HISTORY) + 1);
    const seen = new Set<number>();
    let lastId = start;
    for (const [at, address] of [scripted, hub.address, served.address, scripted, hub.address].entries()) {
      const part = await readUpTo(address, shard, lastId, head - (TICKS - HISTORY) + 8 * (at + 1));
      for (const id of part.ids) seen.add(id);
      ({ lastId } = part);
    }
    const expected = chain.ticks
      .flatMap(({ data }) => data)
      .filter((block) => block.shard === shard)
      .flatMap(({ events }) => events)
      .filter(({ id, type }) => MERGES.includes(Number(type)) && id >= start && id < firstEventId(head))
      .map(({ id }) => id);
    expect([...seen]).toEqual(expected);
  }
});
