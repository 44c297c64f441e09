import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdirSync, statSync, truncateSync } from "node:fs";
import { Registry } from "prom-client";
import { newestSnapshot, storeRankings } from "../../src/db/index/counts/rankings.ts";
import { readTotals } from "../../src/db/index/counts/totals.ts";
import {
  indexPath,
  indexVersion,
  openIndexAsIs,
  openIndexReader,
  openIndexWriter,
} from "../../src/db/index/database.ts";
import { writeMeta } from "../../src/db/index/meta.ts";
import { turnOffFullText } from "../../src/db/index/search/full-text.ts";
import { SQLITE_MIGRATIONS } from "../../src/db/sqlite/migrations.embedded.ts";
import { openWriter } from "../../src/db/sqlite/open.ts";
import { importAtNextStart, nextImport } from "../../src/import/next-import.ts";
import { writeRecords } from "../../src/import/write-records.ts";
import { prepareDatabases } from "../../src/node/start/prepare-databases.ts";
import { createStarting } from "../../src/node/start/starting.ts";
import type { StartingProgress } from "../../src/node/workers/starting.worker.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { createShutdown } from "../../src/runtime/shutdown.ts";
import { demoChannelRecords, demoRecords } from "../demo/records.ts";
import { configWith } from "../runtime/config.ts";
import { silentLog } from "../support/log.ts";
import { until } from "../support/manual-time.ts";
import { accountRecords, startTestNode } from "../support/node.ts";
import { knowingOlderFormat, writeOlderIndex } from "../support/older-index.ts";
import { fromSources, startNode, tempDir } from "../support/program.ts";
import { freePort } from "../support/tls-proxies.ts";

const FID = 7;

test("while a format migration blocks the start, /health is 200, /ready names the stage and /status has its progress", async () => {
  using dir = tempDir();
  const dataDir = `${dir.path}/data`;
  mkdirSync(dataDir, { mode: 0o700 });
  {
    using node = startTestNode();
    node.ingestAll(accountRecords(FID, 10));
    writeOlderIndex(indexPath(dataDir), node.db);
  }
  // The migration waits for the lock of the file that it builds, for ten seconds and with its whole thread.
  const lock = new Database(`${indexPath(dataDir)}.new`, { create: true });
  lock.run("BEGIN EXCLUSIVE");
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const starting = startNode({
    command: knowingOlderFormat,
    dataDir,
    args: ["--port", `${port}`],
    serveFlags: ["--migrate", "--new-state"],
  });
  const get = (path: string) => fetch(`${url}${path}`, { keepalive: false }).catch(() => undefined);
  await until(async () => (await get("/health"))?.status === 200);
  const ready = await get("/ready");
  const [retryAfter, code] = ["retry-after", "x-error-code"].map((name) => ready?.headers.get(name));
  expect([ready?.status, retryAfter, code, await ready?.json()]).toEqual([
    503,
    "5",
    "unavailable",
    { message: "the node is starting: migrating the index to a new format (copy, 0 %)" },
  ]);
  const status = await get("/status");
  expect([status?.status, await status?.json()]).toEqual([
    200,
    {
      version: expect.any(String),
      uptime_secs: expect.any(Number),
      network: "mainnet",
      starting: {
        task: "migrating the index to a new format",
        stage: "copy",
        share: 0,
        messages: expect.any(Number),
      },
    },
  ]);
  expect((await get(`/v2/svc/user?fid=${FID}`))?.status).toBe(503);
  lock.run("ROLLBACK");
  lock.close();
  await using node = await starting;
  expect(node.url).toBe(url);
  await until(async () => (await get("/ready"))?.status === 200);
  expect((await get(`/v2/svc/user?fid=${FID}`))?.status).toBe(200);
  expect(node.logs()).toContain("Migrated the index");
  expect(await node.stop()).toBe(0);
}, 180_000);

test("while it starts, a node shows what it does now, and how far it is", async () => {
  const starting = createStarting(configWith("http.port=0"), { lines: { add: () => {} }, startedAtMs: 0 });
  const task = "migrating the index to a new format";
  const shown = async () => (await fetch(`http://127.0.0.1:${starting.port()}/ready`)).text();
  await starting.show({ task, stage: "copy", share: 0 });
  expect(await shown()).toContain(`${task} (copy, 0 %)`);
  await starting.show({ task, stage: "build", share: 0.559 });
  await until(async () => (await shown()).includes(`${task} (build, 55 %)`));
  await starting.stop();
});

const commonIn = (dir: string) => ({
  config: configWith(`data.dir=${dir}`),
  log: silentLog,
  metrics: { registry: new Registry(), prefix: "svc_" },
  clock: systemClock,
  shutdown: createShutdown({ deadlineMs: 1, log: silentLog, routineLevel: "info" }),
});

test("an index of an earlier schema is shown before it is migrated; one of this schema is not", async () => {
  using dir = tempDir();
  const path = indexPath(dir.path);
  const shown: unknown[] = [];
  const common = commonIn(dir.path);
  const prepare = () =>
    prepareDatabases(common, {
      ...{ demo: false, newState: true, migrate: false },
      starting: {
        async show({ task }) {
          using index = openIndexAsIs(path);
          shown.push([task, indexVersion(index)]);
        },
      },
    });
  openWriter(
    { database: "index", file: path },
    {
      migrations: SQLITE_MIGRATIONS.index.slice(0, -1),
      cacheKib: 64,
      checkpointPages: 1,
      mayCreate: true,
    },
  ).close();
  await prepare();
  expect(shown).toEqual([["migrating the index", "older"]]);
  await prepare();
  expect(shown).toHaveLength(1);
});

/** Prepares the databases of a directory. Returns what was shown meanwhile. */
async function shownWhilePreparing(dir: string): Promise<StartingProgress[]> {
  const shown: StartingProgress[] = [];
  await prepareDatabases(commonIn(dir), {
    ...{ demo: false, newState: true, migrate: true },
    starting: {
      async show(progress) {
        shown.push(progress);
      },
    },
  });
  return shown;
}

test("each step of a format migration is shown, with its growing share of all", async () => {
  using dir = tempDir();
  {
    using node = startTestNode();
    node.ingestAll(accountRecords(FID, 10));
    writeOlderIndex(indexPath(dir.path), node.db);
  }
  const shown = await shownWhilePreparing(dir.path);
  // Those of an index of a few messages: its last step begins at three quarters of the work.
  expect([...new Set(shown.map(({ stage }) => stage))]).toEqual(["copy", "build", "verify"]);
  const shares = shown.map(({ share = Number.NaN }) => share);
  expect(shares).toEqual(shares.toSorted((a, b) => a - b));
  expect([shares[0], shares.at(-1)]).toEqual([0, 0.75]);
  expect(await shownWhilePreparing(dir.path)).toEqual([]);
});

test("the indexes of words and of people are shown while they are built", async () => {
  using dir = tempDir();
  await shownWhilePreparing(dir.path);
  {
    using db = openIndexWriter(indexPath(dir.path));
    turnOffFullText(db);
    writeMeta(db, "people", "0");
  }
  expect((await shownWhilePreparing(dir.path)).map(({ task }) => task)).toEqual([
    "building the full-text index",
    "building the index of people",
  ]);
  expect(await shownWhilePreparing(dir.path)).toEqual([]);
});

test("imports the file that the set-up named, also after an import that was killed, and once", async () => {
  using dir = tempDir();
  const file = `${dir.path}/records`;
  const dataDir = `${dir.path}/data`;
  mkdirSync(dataDir, { mode: 0o700 });
  const shown: string[] = [];
  const prepare = () =>
    prepareDatabases(commonIn(dataDir), {
      ...{ demo: false, newState: false, migrate: false },
      starting: { show: async ({ task, share }) => void shown.push(`${task} ${share}`) },
    });
  const totals = () => {
    using index = openIndexReader(indexPath(dataDir));
    return readTotals(index);
  };
  importAtNextStart(dataDir, file);
  await expect(prepare()).rejects.toThrow(`${file} is missing, but its import is due`);
  await writeRecords(file, accountRecords(FID));
  // The file of an import that was killed is incomplete at its next start, and has grown at the one after it.
  truncateSync(file, statSync(file).size - 1);
  await prepare();
  expect(shown).toEqual([
    `importing ${file} 0`,
    expect.stringMatching(/ 0\.\d+$/),
    "opening the imported index undefined",
  ]);
  expect(totals()).toMatchObject({ on_chain_events: 3, fids: 1 });
  await writeRecords(file, accountRecords(FID + 1));
  await prepare();
  expect(totals()).toMatchObject({ fids: 1 });
  importAtNextStart(dataDir, file);
  await prepare();
  expect(totals()).toMatchObject({ fids: 2 });
  expect(nextImport(dataDir)).toBeUndefined();
});

test("the empty rankings of a node that had nothing end with an import, so that the start makes new ones", async () => {
  using dir = tempDir();
  const file = `${dir.path}/records`;
  const dataDir = `${dir.path}/data`;
  mkdirSync(dataDir, { mode: 0o700 });
  const prepare = () =>
    prepareDatabases(commonIn(dataDir), {
      ...{ demo: false, newState: false, migrate: false, starting: { show: async () => {} } },
    });
  const ranked = () => {
    using index = openIndexReader(indexPath(dataDir));
    return newestSnapshot(index, "casts");
  };
  await prepare();
  {
    using index = openIndexWriter(indexPath(dataDir));
    storeRankings(index, { snapshot: 60_000, rankings: { casts: [], channels: [] } });
  }
  await prepare();
  expect(ranked()).toBe(60_000);
  await writeRecords(file, accountRecords(FID));
  importAtNextStart(dataDir, file);
  await prepare();
  expect(ranked()).toBeUndefined();
});

test("a start says what its import refused, by reasons", async () => {
  using dir = tempDir();
  const file = `${dir.path}/records`;
  const dataDir = `${dir.path}/data`;
  mkdirSync(dataDir, { mode: 0o700 });
  const prepare = () =>
    prepareDatabases(commonIn(dataDir), {
      ...{ demo: false, newState: false, migrate: false, starting: { show: async () => {} } },
    });
  // Mainnet has no date for channels.
  await writeRecords(file, [...accountRecords(FID), ...demoRecords(), ...demoChannelRecords()]);
  importAtNextStart(dataDir, file);
  expect(await prepare()).toMatchObject([
    { reason: "channels are not part of this network's protocol yet", count: 24 },
  ]);
  expect(await prepare()).toEqual([]);
});

test("Ctrl-C while the demo network is created ends the start at once, with an empty index and no addresses printed", async () => {
  using dir = tempDir();
  const args = ["--data-dir", dir.path, "--port", "0", "--set", "hub.port=-1", "serve", "--demo"];
  const child = Bun.spawn([...fromSources, ...args], { cwd: dir.path, stdout: "pipe", stderr: "pipe" });
  let log = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stderr) {
    const hadBegun = log.includes("index with the demo network");
    log += decoder.decode(chunk, { stream: true });
    if (!hadBegun && log.includes("index with the demo network")) child.kill("SIGINT");
  }
  expect(await child.exited).toBe(0);
  expect(await new Response(child.stdout).text()).toBe("");
  expect(log).toContain('"msg":"Shut down"');
  expect(log).not.toContain("Opened the HTTP interface");
  using db = openIndexReader(indexPath(dir.path));
  expect(readTotals(db)).toMatchObject({ messages: 0, on_chain_events: 0 });
});
