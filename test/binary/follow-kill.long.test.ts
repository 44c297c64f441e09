import { afterAll, expect, test } from "bun:test";
import { type IndexDatabase, indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { getPosition } from "../../src/db/index/positions.ts";
import { verifyIndex } from "../../src/db/index/verify/verify.ts";
import { seededRandom } from "../../src/demo/random.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { IS_LONG } from "../support/long.ts";
import { tempDir } from "../support/program.ts";
import { heightAt } from "../support/upstream/blocks.ts";
import { makeDevnetChain } from "../support/upstream/chain.ts";
import { UpstreamNode } from "../support/upstream/node.ts";
import { UpstreamServer } from "../support/upstream/server.ts";
import { DATA_SHARDS } from "../support/upstream/shards.ts";
import { HeldSnapshots } from "../support/upstream/snapshots.ts";
import { Watch } from "../support/upstream/watch.ts";

/** Half of them during the backfill. */
const KILLS = Number(process.env.UPSTREAM_KILLS ?? (IS_LONG ? 20 : 2));
const SEED = process.env.UPSTREAM_KILLS_SEED ?? "kill -9";
const HISTORY = 60;
const TICKS_PER_KILL = 6;
/** The approximate number of calls of a whole backfill: a dozen for each of a dozen fids. */
const CALLS_OF_A_BACKFILL = 180;
/** Turns of this process's event loop between a commit of the other one and its kill. */
const MOST_TURNS_MORE = 30;

const dir = tempDir();
const dataDir = `${dir.path}/data`;
afterAll(() => dir[Symbol.dispose]());

test(
  "after kill -9 at any moment of the backfill or of live following, the index equals that of a node that received everything in order",
  async () => {
    const random = seededRandom(SEED);
    const chain = makeDevnetChain(SEED, HISTORY + KILLS * TICKS_PER_KILL);
    const node = new UpstreamNode(chain);
    node.produce(HISTORY);
    const watch = new Watch();
    const server = new UpstreamServer(node, { faults: watch });
    await server.start();
    // The process has an index once it first polls for blocks of shard 0.
    let index: IndexDatabase | undefined;
    const applied = (shard: number) => {
      index ??= openIndexReader(indexPath(dataDir));
      return getPosition(index, `upstream ${shard} applied`) ?? 0;
    };
    const hasEverything = () =>
      watch.polls > 0 && [0, ...DATA_SHARDS].every((shard) => applied(shard) >= node.height(shard));
    for (let kill = 0; kill < KILLS; kill++) {
      const child = follow(server.url);
      const calls = 1 + random.below(CALLS_OF_A_BACKFILL);
      const newest = node.produced(1);
      if (kill < KILLS / 2) {
        await watch.until(child.exited, () => watch.calls >= calls || hasEverything());
      } else {
        await watch.until(child.exited, hasEverything);
        node.produce(newest + TICKS_PER_KILL);
        const shard = random.pick(DATA_SHARDS);
        const block = heightAt(shard, newest + random.below(TICKS_PER_KILL));
        while (applied(shard) < block) await turn();
        for (let more = random.below(MOST_TURNS_MORE); more > 0; more--) await turn();
      }
      child.kill("SIGKILL");
      await child.exited;
      node.produce(newest + TICKS_PER_KILL);
      watch.reset();
    }
    const child = follow(server.url);
    await watch.until(child.exited, hasEverything);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    server.stop();
    if (!index) throw new Error("the index was never inspected");
    expect(chain.dumpOf(index)).toBe(chain.referenceDump);
    index[Symbol.dispose]();
    expect(verifyIndex(indexPath(dataDir))).toEqual([]);
  },
  30_000 + KILLS * 10_000,
);

/** About as many calls as a fill from snapshots makes: one for each virtual shard, and those around the keys that no page gives. */
const CALLS_OF_A_FILL = 650;
const FILL_KILLS = Number(process.env.UPSTREAM_KILLS ?? (IS_LONG ? 30 : 1));

test(
  "check 17: after kill -9 at any moment of a fill from snapshots, the index equals that of a node that received everything in order",
  async () => {
    const random = seededRandom(`${SEED} of a fill`);
    const chain = makeDevnetChain(`${SEED} of a fill`, HISTORY + 10);
    const node = new UpstreamNode(chain);
    node.produce(HISTORY);
    const snapshots = new HeldSnapshots();
    snapshots.perPage = 5;
    snapshots.take(node);
    // The process has the clock of this machine, and uses no snapshot of an earlier day.
    snapshots.age(chain.endsAt - Math.floor(Date.now() / 1000));
    const watch = new Watch();
    let pages = 0;
    const onCall = (method: string) => {
      if (method === "GetShardTransactions") pages += 1;
      return watch.onCall(method);
    };
    const faults = { onCall, onDelivery: () => undefined };
    const server = new UpstreamServer(node, { faults, snapshots });
    await server.start();
    const ownDir = `${dir.path}/filled`;
    let index: IndexDatabase | undefined;
    const hasEverything = () => {
      if (watch.polls === 0) return false;
      index ??= openIndexReader(indexPath(ownDir));
      const read = index;
      return [0, ...DATA_SHARDS].every(
        (shard) => (getPosition(read, `upstream ${shard} applied`) ?? 0) >= node.height(shard),
      );
    };
    for (let kill = 0; kill < FILL_KILLS; kill++) {
      const child = follow(server.url, ownDir);
      // What was read before is not read again, so early kills come at most anywhere, later ones near the end.
      const calls = 1 + random.below(Math.ceil(CALLS_OF_A_FILL / (1 + kill / 4)));
      await watch.until(child.exited, () => watch.calls >= calls || hasEverything());
      for (let more = random.below(MOST_TURNS_MORE); more > 0; more--) await turn();
      child.kill("SIGKILL");
      await child.exited;
      watch.reset();
    }
    node.produce(HISTORY + 10);
    const child = follow(server.url, ownDir);
    await watch.until(child.exited, hasEverything);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    server.stop();
    if (!index) throw new Error("the index was never inspected");
    // Each of the 512 virtual shards is read from the snapshots.
    expect(pages).toBeGreaterThanOrEqual(512);
    expect(chain.dumpOf(index)).toBe(chain.referenceDump);
    index[Symbol.dispose]();
    expect(verifyIndex(indexPath(ownDir))).toEqual([]);
  },
  60_000 + FILL_KILLS * 10_000,
);

function follow(url: string, ownDir = dataDir): Bun.Subprocess {
  const settings = [
    "--set",
    "protocol.network=devnet",
    "--set",
    "hub.port=0",
    "--set",
    `upstream.url=${url}`,
  ];
  return Bun.spawn([...compiledProgram, "--data-dir", ownDir, "--port", "0", ...settings, "serve"], {
    cwd: dir.path,
    env: { PATH: process.env.PATH ?? "", HOME: dir.path },
    stdout: "ignore",
    stderr: process.env.UPSTREAM_KILLS_LOG ? "inherit" : "ignore",
  });
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
