import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Client } from "@grpc/grpc-js";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { createUpstreamClient, type UpstreamClient } from "../../src/upstream/calls/client.ts";
import { connectUpstream } from "../../src/upstream/calls/connection.ts";
import { estimateUpstream, sampleFids } from "../../src/upstream/verify/estimate-upstream.ts";
import { upstreamFids } from "../../src/upstream/verify/verify-sample.ts";
import { makeChain } from "../support/upstream/chain.ts";
import { UpstreamNode } from "../support/upstream/node.ts";
import { UpstreamServer } from "../support/upstream/server.ts";

/** A network is sampled without listing it. */

const TICKS = 70;
const node = new UpstreamNode(makeChain("sampled fids", TICKS));
const server = new UpstreamServer(node);
let connection: Client;
let client: UpstreamClient;

beforeAll(async () => {
  await server.start();
  connection = connectUpstream(server.url);
  const pace = { callTimeoutMs: 60_000, stallMs: 60_000 };
  client = createUpstreamClient(connection, pace, new AbortController().signal);
});
afterAll(() => {
  connection.close();
  server.stop();
});

test("a node without the fids that it counts is an error, after a bounded number of calls", async () => {
  const failure = await sampleFids(client, 5, { maxListed: -1 }).catch((cause: unknown) => cause);
  expect(String(failure)).toContain("has none of those drawn");
});

test("draws registered fids, each once, from the lowest to the highest", async () => {
  node.produce(TICKS);
  const all = await upstreamFids(client);
  const drawn = new Set<number>();
  for (let round = 0; round < 20; round++) {
    const { count, sample } = await sampleFids(client, 4, { maxListed: -1 });
    expect(count).toBe(all.size);
    expect(new Set(sample).size).toBe(sample.length);
    for (const fid of sample) drawn.add(fid);
  }
  expect([...drawn].filter((fid) => !all.has(fid))).toEqual([]);
  const lowest = await sampleFids(client, 1, {
    maxListed: -1,
    random: () => (Math.min(...all) - 1) / Math.max(...all),
  });
  const highest = await sampleFids(client, 1, { maxListed: -1, random: () => 1 - Number.EPSILON });
  expect([lowest.sample, highest.sample]).toEqual([[Math.min(...all)], [Math.max(...all)]]);
});

test("the calls of a sample count for all fids, and those in flight at a time share the time", async () => {
  const { size } = await upstreamFids(client);
  const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
  for (const concurrency of [1, 8]) {
    const estimate = await estimateUpstream(
      { client, network, cores: 1, concurrency, sampledFids: 2 },
      undefined,
    );
    expect([estimate.sampledFids, estimate.fids]).toEqual([2, size]);
    const calls = (estimate.callSeconds * 1000 * concurrency) / estimate.callMs;
    expect(calls).toBeGreaterThanOrEqual(13 * size - 0.01);
    expect(calls).toBeLessThan(26 * size);
  }
});

test("lists a small network, so that its count has no fid twice", async () => {
  const all = await upstreamFids(client);
  const { count, sample } = await sampleFids(client, 1000);
  expect([count, new Set(sample)]).toEqual([all.size, all]);
});
