import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { indexPath, openIndexWriter } from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { writeMeta } from "../../src/db/index/meta.ts";
import { putPosition } from "../../src/db/index/positions.ts";
import { verifyIndex } from "../../src/db/index/verify/verify.ts";
import { createKeyring } from "../../src/demo/keys.ts";
import { type CompactDeps, compactIndex } from "../../src/node/compact/compact-index.ts";
import { bulkFill } from "../support/bulk-fill.ts";
import { ManualClock } from "../support/clock.ts";
import { compiledFile, compiledProgram } from "../support/compiled-program.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { useAsForeign } from "../support/foreign-process.ts";
import { contentDifferences, indexContent } from "../support/index-content.ts";
import { IS_LONG } from "../support/long.ts";
import { startNode, tempDir } from "../support/program.ts";
import { wildMessages } from "../support/wild-network.ts";

/** `svc index compact` over the demo network, as if a node had followed all of it. */

/** Four of five people. */
const FOLLOWED = Array.from({ length: 200 }, (_, at) => at + 1).filter((fid) => fid % 5 !== 0);
const READ = [3, 8, 21];
const KILLS = IS_LONG ? 100 : 1;
const dir = tempDir();
const original = join(dir.path, "original");
const expected = join(dir.path, "expected");
/** Bodies of responses before, by path. */
const reads = new Map<string, string>();

const copyTo = (name: string, from = original) => {
  const to = join(dir.path, name);
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true });
  return to;
};
const SETTINGS = ["--set", "upstream.url=http://127.0.0.1:1", "--set", `upstream.fids=${FOLLOWED.join()}`];
const compact = (dataDir: string) =>
  Bun.spawn([...compiledProgram, "--data-dir", dataDir, ...SETTINGS, "index", "compact", "--json"], {
    stdout: "pipe",
    stderr: "pipe",
  });
const deps = (dataDir: string, changes: Partial<CompactDeps> = {}): CompactDeps => ({
  dataDir,
  network: "mainnet",
  fullText: true,
  followed: new Set(FOLLOWED),
  clock: new ManualClock(1_800_000_000),
  signal: new AbortController().signal,
  onProgress: () => {},
  ...changes,
});

/** The names of a demo network are signed by its own name server. */
const differencesOf = (dataDir: string) =>
  verifyIndex(indexPath(dataDir), { nameServer: createKeyring().nameServer().address });

function contentOf(dataDir: string) {
  using db = openIndexWriter(indexPath(dataDir));
  return indexContent(db);
}

function rowsOf(dataDir: string, table: string): unknown[] {
  using db = openIndexWriter(indexPath(dataDir));
  return db.sqlite.query(`SELECT * FROM ${table}`).all();
}

beforeAll(async () => {
  const node = await startDemoNode({ dataDir: original });
  for (const fid of READ)
    for (const path of [
      `/v1/castsByFid?fid=${fid}`,
      `/v1/linksByFid?fid=${fid}`,
      `/v1/reactionsByFid?fid=${fid}&reaction_type=1`,
    ])
      reads.set(path, await (await fetch(`${node.url}${path}`)).text());
  await node.stop();
  using db = openIndexWriter(indexPath(original));
  db.transaction(() => {
    db.sqlite.run("DELETE FROM meta WHERE key = 'demo'");
    writeMeta(db, "follows", "true");
    for (const [key, position] of Object.entries({ stage: 3, shards: 2, scope: 0, filled: 1 }))
      putPosition(db, `upstream ${key}`, position);
    for (const shard of [0, 1, 2]) putPosition(db, `upstream ${shard} applied`, 1000);
  });
  db.checkpoint();
  db[Symbol.dispose]();
  copyTo("expected");
  const child = compact(expected);
  // A run of some seconds logs how far it is.
  const log = (await new Response(child.stderr).text()).trim().split("\n");
  expect(log.filter((line) => line !== "" && !line.includes('"msg":"Compacting the index"'))).toEqual([]);
  expect(await child.exited).toBe(0);
  const { bytesBefore, bytesAfter, narrowed } = JSON.parse(await new Response(child.stdout).text());
  expect(narrowed.isComplete).toBe(true);
  expect(narrowed.removedRecords).toBeGreaterThan(1000);
  expect(bytesAfter).toBeLessThan(0.95 * bytesBefore);
}, 180_000);

afterAll(() => dir[Symbol.dispose]());

test("the compacted index is whole: derived tables equal a recount, the logs and the state are as they were", () => {
  expect(differencesOf(expected)).toEqual([]);
  for (const table of ["event_outbox", "hub_events", "hub_blocks", "channel_registry"])
    expect(rowsOf(expected, table)).toEqual(rowsOf(original, table));
  const positions = (dataDir: string) =>
    rowsOf(dataDir, "positions").filter((row) => (row as { key: string }).key !== "upstream scope");
  expect(positions(expected)).toEqual(positions(original));
  const state = (dataDir: string) => readFileSync(join(dataDir, "state.db"));
  expect(state(expected).equals(state(original))).toBe(true);
  expect(existsSync(`${indexPath(expected)}.compact`)).toBe(false);
});

test("a node with the compacted index gives the same responses about the followed fids", async () => {
  await using node = await startNode({
    command: compiledProgram,
    dataDir: copyTo("served", expected),
    args: SETTINGS,
  });
  for (const [path, body] of reads) expect(await (await fetch(`${node.url}${path}`)).text()).toBe(body);
  expect(await (await fetch(`${node.url}/v1/castsByFid?fid=5`)).text()).toContain(
    "not followed by this node",
  );
});

test(
  "a compaction that is killed at any moment, also again and again, loses nothing that stays, and the next one ends as the first would",
  async () => {
    const want = contentOf(expected);
    for (let kills = 0; kills < KILLS; ) {
      const dataDir = copyTo("killed");
      for (let left = IS_LONG ? 1 + Math.floor(Math.random() * 3) : 1; left > 0; left--, kills++) {
        const child = compact(dataDir);
        await Bun.sleep(150 + Math.random() * 1500);
        expect(useAsForeign(indexPath(dataDir), ["read"])).toEqual([""]);
        child.kill("SIGKILL");
        await child.exited;
        {
          using db = openIndexWriter(indexPath(dataDir));
          expect(db.damage()).toEqual([]);
        }
        if (IS_LONG) expect(differencesOf(dataDir)).toEqual([]);
      }
      await compactIndex(deps(dataDir));
      expect(contentDifferences(want, contentOf(dataDir))).toEqual([]);
    }
  },
  // A busy machine needs up to ten seconds for a kill.
  IS_LONG ? 1_800_000 : 60_000,
);

test("too little free space is refused before anything is done", async () => {
  const dataDir = copyTo("small");
  const before = readFileSync(indexPath(dataDir));
  expect(compactIndex(deps(dataDir, { freeBytes: () => 100_000 }))).rejects.toThrow(
    /needs [\d,.]+ MB of free space/,
  );
  await compactIndex(deps(dataDir, { freeBytes: () => 100_000 })).catch(() => undefined);
  expect(readFileSync(indexPath(dataDir)).equals(before)).toBe(true);
});

test.skipIf(!IS_LONG)(
  "a disk that is full later leaves a usable index, and the next run completes the work",
  async () => {
    const dataDir = copyTo("full");
    let asked = 0;
    const freeBytes = () => (asked++ === 0 ? 1e12 : 100_000);
    await expect(compactIndex(deps(dataDir, { freeBytes }))).rejects.toThrow("the index is usable as it is");
    expect(differencesOf(dataDir)).toEqual([]);
    await compactIndex(deps(dataDir));
    expect(contentDifferences(contentOf(expected), contentOf(dataDir))).toEqual([]);
  },
);

test("an index that is not filled is refused, with what fills it", async () => {
  const dataDir = join(dir.path, "filling");
  mkdirSync(dataDir);
  {
    using db = openIndexWriter(indexPath(dataDir));
    claimNetwork(db, "mainnet");
    bulkFill(db, wildMessages("filling", 50)).next();
  }
  await expect(compactIndex(deps(dataDir))).rejects.toThrow("run `svc import");
  {
    using db = openIndexWriter(indexPath(dataDir));
    writeMeta(db, "follows", "true");
  }
  await expect(compactIndex(deps(dataDir))).rejects.toThrow("Start the node");
});

const SERVICE = 65_534;

test.skipIf(process.getuid?.() !== 0)(
  "a compaction by root, also one that is killed at any moment, creates every file as the user of the node",
  async () => {
    const dataDir = copyTo("owned");
    const files = () => [dataDir, ...readdirSync(dataDir).map((name) => join(dataDir, name))];
    for (const file of files()) chownSync(file, SERVICE, SERVICE);
    const expectOwn = () => {
      for (const file of files()) expect([file, statSync(file).uid]).toEqual([file, SERVICE]);
    };
    // The directories of tests are closed to other users.
    chmodSync(dir.path, 0o755);
    const program = join(dir.path, "svc");
    cpSync(compiledFile, program);
    const args = [program, "--data-dir", dataDir, ...SETTINGS, "index", "compact"];
    // The working directory of root is one of them.
    const closed = join(dir.path, "closed");
    mkdirSync(closed, { mode: 0o700 });
    const byRoot = () => Bun.spawn(args, { cwd: closed, stdout: "ignore", stderr: "pipe" });
    const killOne = async () => {
      const child = byRoot();
      while (!existsSync(join(dataDir, "lock.pid"))) await Bun.sleep(5);
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      child.kill("SIGKILL");
      await child.exited;
      // The real, effective, saved and file system ids: no file is root's before it is given away.
      const ids = Array(4).fill(SERVICE).join("\t");
      expect(status).toContain(`Uid:\t${ids}\nGid:\t${ids}\n`);
      expect(status).toMatch(new RegExp(`^Groups:\\t${SERVICE} $`, "m"));
      expectOwn();
    };
    await killOne();
    const whole = byRoot();
    expect([await whole.exited, await new Response(whole.stderr).text()]).toEqual([
      0,
      expect.stringContaining("Became the user of the data directory"),
    ]);
    expectOwn();
    await killOne();
    const user = ["setpriv", "--reuid", `${SERVICE}`, "--regid", `${SERVICE}`, "--clear-groups"];
    const child = Bun.spawn([...user, ...args], { cwd: dir.path, stdout: "ignore", stderr: "pipe" });
    expect([await new Response(child.stderr).text(), await child.exited]).toEqual(["", 0]);
  },
);

test("an index that is elsewhere, through a symbolic link, stays there", async () => {
  const dataDir = copyTo("linked");
  const elsewhere = join(dir.path, "elsewhere");
  mkdirSync(elsewhere);
  renameSync(indexPath(dataDir), join(elsewhere, "index.db"));
  symlinkSync(join(elsewhere, "index.db"), indexPath(dataDir));
  await compactIndex(deps(dataDir));
  expect(lstatSync(indexPath(dataDir)).isSymbolicLink()).toBe(true);
  expect(readdirSync(elsewhere)).toEqual(["index.db"]);
  expect(contentDifferences(contentOf(expected), contentOf(dataDir))).toEqual([]);
});
