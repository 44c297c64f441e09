import { beforeAll, describe, expect, test } from "bun:test";
import type { IndexDatabase } from "../../src/db/index/database.ts";
import { serveRecording } from "../support/upstream/recorded.ts";
import {
  chain,
  followNodes,
  type RecordedNode,
  SHARDS,
  withChunk,
} from "../support/upstream/recorded-nodes.ts";

const NODES = 3;

type Followed = Awaited<ReturnType<typeof followNodes>>;

/** The log of hub events: what readers of this node's hub get, and so what was applied, in its order. */
function hubLog({ sqlite }: IndexDatabase): string[] {
  return sqlite
    .query<{ shard: number; id: number; type: number; fid: number; body: Uint8Array | null }, []>(
      "SELECT shard, id, type, fid, body FROM hub_events ORDER BY shard, id",
    )
    .all()
    .map(({ body, ...event }) => `${Object.values(event)} ${body?.toHex()}`);
}

let undisturbed: readonly string[];
beforeAll(async () => {
  await using followed = await followNodes();
  await followed.allApplied();
  undisturbed = hubLog(followed.db);
});

const extend = (followed: Followed, height: number) => {
  for (const { heads } of followed.nodes) for (const shard of SHARDS) heads.set(shard, height);
};

/** Waits until a node is followed, and all are known to be well. */
async function settled(followed: Followed): Promise<RecordedNode> {
  await followed.until(() => followed.active() !== undefined);
  return followed.active() as RecordedNode;
}

const stateOf = (followed: Followed, node: RecordedNode) =>
  followed.upstreams()[followed.nodes.indexOf(node)]?.state;

const forged = withChunk(1, 50, ({ commits }) => {
  const [first] = commits?.signatures ?? [];
  if (first) first.signature[7] = (first.signature[7] ?? 0) ^ 1;
});

describe("three followed nodes", () => {
  test("one lies, one stalls, one is killed: every block is applied once, in order, as in an undisturbed run", async () => {
    await using followed = await followNodes({ nodes: NODES, lastBlock: 40 });
    await followed.allApplied(40);

    const liar = await settled(followed);
    liar.recording = forged;
    extend(followed, 60);
    await followed.allApplied(60);
    expect(followed.active()).not.toBe(liar);
    expect(stateOf(followed, liar)).toBe("refused");

    const stalled = await settled(followed);
    stalled.pause();
    extend(followed, 80);
    await followed.allApplied(80);
    expect(followed.active()).not.toBe(stalled);

    const killed = await settled(followed);
    expect([liar, stalled]).not.toContain(killed);
    stalled.resume();
    killed.kill();
    extend(followed, 100);
    await followed.allApplied(100);
    expect(followed.active()).toBe(stalled);
    expect(stateOf(followed, liar)).toBe("refused");
    await followed.until(() => stateOf(followed, killed) === "failing");
    expect(followed.peerError()).toBeUndefined();
    expect(hubLog(followed.db)).toEqual([...undisturbed]);
  });

  test("the followed node withholds new blocks: another one takes over, and no block is lost or repeated", async () => {
    await using followed = await followNodes({ nodes: NODES, lastBlock: 60 });
    await followed.allApplied(60);
    const stale = await settled(followed);
    for (const node of followed.nodes)
      if (node !== stale) for (const shard of SHARDS) node.heads.set(shard, 100);
    await followed.allApplied(100);
    expect(followed.active()).not.toBe(stale);
    await followed.until(() => stateOf(followed, stale) === "lagging");
    expect(hubLog(followed.db)).toEqual([...undisturbed]);
  });

  test("a node that sends its blocks and says later that it has them is not left", async () => {
    // A busy machine is silent for longer than the nodes of other tests may be.
    await using followed = await followNodes({ nodes: NODES, lastBlock: 60, silenceMs: 20_000 });
    await followed.allApplied(60);
    await followed.until(() => followed.upstreams().every(({ state }) => state === "ok"));
    const late = await settled(followed);
    late.announced = new Map(late.heads);
    extend(followed, 100);
    await followed.allApplied(100);
    // Each of the others says what it has, and is compared with the followed one.
    await followed.until(() => followed.upstreams().every(({ lagBlocks }) => lagBlocks === 0));
    expect(followed.active()).toBe(late);
    expect(followed.faults.filter((fault) => fault.includes("was left"))).toEqual([]);
  });

  test("a node that never responds delays no other", async () => {
    await using followed = await followNodes({ nodes: NODES, isFollowing: false });
    followed.nodes[0]?.pause();
    followed.start();
    await followed.allApplied();
    expect(followed.upstreams()[0]?.state).toBe("failing");
    followed.nodes[0]?.resume();
    await followed.until(() => followed.upstreams().every(({ state }) => state === "ok"));
  });

  test("a node that lies about its newest block is refused before it is followed", async () => {
    await using followed = await followNodes({ nodes: NODES, isFollowing: false });
    const [liar] = followed.nodes as [RecordedNode];
    liar.recording = withChunk(2, 100, ({ commits }) => void commits?.signatures.pop());
    followed.start();
    await followed.allApplied();
    await followed.until(() => stateOf(followed, liar) === "refused");
    expect(followed.active()).not.toBe(liar);
    expect(followed.upstreams()[0]?.reason).toBe("block 100 of shard 2 is not the network's (no_quorum)");
  });

  test("a node stays refused when what it sent before is written", async () => {
    let written: PromiseWithResolvers<void> | undefined;
    const acknowledged = async () => written?.promise;
    await using followed = await followNodes({ nodes: 2, lastBlock: 40, acknowledged });
    await followed.allApplied(40);
    const liar = await settled(followed);
    await followed.until(() => followed.upstreams().every(({ state }) => state === "ok"));
    written = Promise.withResolvers();
    extend(followed, 41);
    await followed.allApplied(41);
    liar.recording = withChunk(2, 41, ({ commits }) => void commits?.signatures.pop());
    await followed.until(() => stateOf(followed, liar) === "refused");
    liar.recording = chain;
    written.resolve();
    extend(followed, 45);
    await followed.allApplied(45);
    expect(stateOf(followed, liar)).toBe("refused");
  });

  test("a node without certificates is not followed beside others, and the level stays", async () => {
    await using followed = await followNodes({ nodes: 2, isFollowing: false });
    const [first] = followed.nodes as [RecordedNode];
    using other = await serveRecording(() => chain, followed.heads, { hasBlockShard: false });
    first.url = other.url;
    followed.start();
    await followed.allApplied();
    await followed.until(() => stateOf(followed, first) === "partial");
    expect(followed.trust()?.level).toBe("blocks");
    expect(followed.upstreams()[0]?.reason).toContain("no certificates");
  });

  test("all are unreachable: following waits, and resumes with the first that is back", async () => {
    await using followed = await followNodes({ nodes: 2, lastBlock: 50 });
    await followed.allApplied(50);
    for (const node of followed.nodes) node.pause();
    extend(followed, 100);
    followed.nodes[1]?.resume();
    await followed.allApplied(100);
    expect(followed.active()).toBe(followed.nodes[1]);
  });

  test("blocks that one node no longer has are read from another, and no fid is read again", async () => {
    await using followed = await followNodes({ nodes: 2, lastBlock: 50 });
    await followed.allApplied(50);
    const pruned = await settled(followed);
    const events = new Map(
      [...chain.events].map(([shard, all]) => [
        shard,
        all.filter(({ id }) => id < 51 * 16_384 || id >= 71 * 16_384),
      ]),
    );
    pruned.recording = { ...chain, events };
    extend(followed, 100);
    await followed.allApplied(100);
    expect(followed.faults.filter((fault) => fault.startsWith("blocks were missed"))).toEqual([]);
    expect(hubLog(followed.db)).toEqual([...undisturbed]);
  });
});
