import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { Registry } from "prom-client";
import { indexPath, indexVersion, openIndexAsIs } from "../../src/db/index/database.ts";
import { embeddedMigrations } from "../../src/db/sqlite/migrations.macro.ts";
import { openWriter } from "../../src/db/sqlite/open.ts";
import { prepareDatabases } from "../../src/node/start/prepare-databases.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { createShutdown } from "../../src/runtime/shutdown.ts";
import { configWith } from "../runtime/config.ts";
import { silentLog } from "../support/log.ts";
import { until } from "../support/manual-time.ts";
import { accountRecords, startTestNode } from "../support/node.ts";
import { knowingOlderFormat, writeOlderIndex } from "../support/older-index.ts";
import { startNode, tempDir } from "../support/program.ts";
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
  expect([ready?.status, ready?.headers.get("retry-after"), await ready?.json()]).toEqual([
    503,
    "5",
    { message: "the node is starting: migrating the index to a new format (copy)" },
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

test("an index of an earlier schema is shown before it is migrated; one of this schema is not", async () => {
  using dir = tempDir();
  const path = indexPath(dir.path);
  const shown: unknown[] = [];
  const log = silentLog;
  const common = {
    config: configWith(`data.dir=${dir.path}`),
    log,
    metrics: { registry: new Registry(), prefix: "svc_" },
    clock: systemClock,
    shutdown: createShutdown({ deadlineMs: 1, log, routineLevel: "info" }),
  };
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
      migrations: embeddedMigrations("index").slice(0, -1),
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
