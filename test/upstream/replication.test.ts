import { describe, expect, test } from "bun:test";
import { type Chain, makeChain } from "../support/upstream/chain.ts";
import { FollowedIndex } from "../support/upstream/followed-index.ts";
import { UpstreamNode } from "../support/upstream/node.ts";
import { UpstreamServer } from "../support/upstream/server.ts";
import { HeldSnapshots } from "../support/upstream/snapshots.ts";

const chain = makeChain("replication", 90);

/** An index that is filled from the snapshots of a scripted node, and follows it. */
async function filled(of: Chain, { perPage = 7, history = 60 } = {}) {
  const node = new UpstreamNode(of);
  node.produce(history);
  const snapshots = new HeldSnapshots();
  snapshots.perPage = perPage;
  snapshots.take(node);
  const calls = new Map<string, number>();
  let index: FollowedIndex | undefined;
  const faults = {
    onCall: (method: string) => {
      calls.set(method, (calls.get(method) ?? 0) + 1);
      return undefined;
    },
    onDelivery: () => undefined,
  };
  const server = new UpstreamServer(node, { snapshots, faults, onCall: () => index?.wake() });
  await server.start();
  index = new FollowedIndex({ node, url: server.url, nowSecs: of.endsAt });
  return {
    node,
    snapshots,
    server,
    index,
    calls,
    async [Symbol.asyncDispose]() {
      await index.stop();
      server.stop();
      index.db[Symbol.dispose]();
    },
  };
}

describe("an empty index that is filled from snapshots", () => {
  test("equals that of a node that received everything in order, without reading fid by fid", async () => {
    await using scene = await filled(chain);
    scene.index.start();
    scene.node.produce(90);
    await scene.index.caughtUp();
    expect(chain.dumpOf(scene.index.db)).toBe(chain.referenceDump);
  });
});
