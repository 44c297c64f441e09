import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { type IndexDatabase, indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { healsOf, quarantinedAccounts } from "../../src/db/index/trie/heals.ts";
import { shardProof } from "../../src/db/index/trie/shard-proofs.ts";
import { verifyIndex } from "../../src/db/index/verify/verify.ts";
import { seededRandom } from "../../src/demo/random.ts";
import { verifyRoots } from "../../src/upstream/verify/verify-roots.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { IS_LONG } from "../support/long.ts";
import { tempDir } from "../support/program.ts";
import { serveNetwork } from "../support/upstream/follow-recorded.ts";
import devnet from "../trust/vectors/devnet-validators.json";

const KILLS = Number(process.env.UPSTREAM_KILLS ?? 15);
const SEED = process.env.UPSTREAM_KILLS_SEED ?? "kill -9 in a healing";
const SHARDS = [1, 2];
const HEAD = 1750;
/** About as many calls as it takes to heal a dozen accounts of both shards. */
const CALLS_OF_A_HEALING = 1200;
const LOOK_MS = 20;

const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());

// Ten seconds pass between two looks of the healer, at each start.
test.skipIf(!IS_LONG)(
  "after kill -9 at any moment of a comparison of roots or a healing, an index that was filled fid by fid ends proven",
  async () => {
    const random = seededRandom(SEED);
    // Without a snapshot, an index does not get every key: a dozen accounts differ.
    await using served = await serveNetwork("oneValidator", { last: HEAD, snapshots: {} });
    const sets = `${dir.path}/validators.json`;
    writeFileSync(sets, JSON.stringify(devnet));
    const calls = () => served.accounts?.calls.get("GetTrieMetadataByPrefix") ?? 0;
    let index: IndexDatabase | undefined;
    const isProven = () => {
      if (calls() === 0) return false;
      index ??= openIndexReader(indexPath(`${dir.path}/data`));
      const db = index;
      return SHARDS.every((shard) => shardProof(db, shard).provenHeight === HEAD);
    };
    for (let kill = 0; kill < KILLS && !isProven(); kill++) {
      const child = follow(served.upstream.url, sets);
      const until = calls() + random.below(Math.ceil(CALLS_OF_A_HEALING / (1 + kill / 2)));
      await looksUntil(child, () => calls() > until || isProven());
      child.kill("SIGKILL");
      await child.exited;
    }
    const child = follow(served.upstream.url, sets);
    await looksUntil(child, isProven);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    if (!index) throw new Error("the index was never inspected");
    expect(healsOf(index)).toBeGreaterThan(5);
    expect(quarantinedAccounts(index)).toEqual([]);
    const { shards, differing } = await verifyRoots(index, new AbortController().signal);
    expect([differing, ...shards.map(({ verdict }) => verdict)]).toEqual([0, "proven", "proven"]);
    index[Symbol.dispose]();
    expect(verifyIndex(indexPath(`${dir.path}/data`))).toEqual([]);
  },
  120_000 + KILLS * 10_000,
);

async function looksUntil(child: Bun.Subprocess, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    if (child.exitCode !== null) throw new Error(`the process exited with ${child.exitCode}`);
    await Bun.sleep(LOOK_MS);
  }
}

function follow(url: string, sets: string): Bun.Subprocess {
  const settings = [
    "protocol.network=devnet",
    "hub.port=0",
    `upstream.url=${url}`,
    "trust.roots=full",
    `trust.validators_file=${sets}`,
  ].flatMap((setting) => ["--set", setting]);
  return Bun.spawn(
    [...compiledProgram, "--data-dir", `${dir.path}/data`, "--port", "0", ...settings, "serve"],
    {
      cwd: dir.path,
      env: { PATH: process.env.PATH ?? "", HOME: dir.path },
      stdout: "ignore",
      stderr: process.env.UPSTREAM_KILLS_LOG ? "inherit" : "ignore",
    },
  );
}
