import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Registry } from "prom-client";
import {
  createDamageReports,
  createStorageWatch,
  type StorageWatchOptions,
  scheduleStorageWatch,
  storageFigures,
} from "../../src/node/watch/storage-watch.ts";
import { registerFigures } from "../../src/runtime/figures/figure-metrics.ts";
import { type Replacement, watchForReplacement } from "../../src/runtime/replacement.ts";
import { ManualClock } from "../support/clock.ts";
import { logTo, silentLog } from "../support/log.ts";
import { tempDir } from "../support/program.ts";
import { cast } from "../support/records.ts";
import { failStatement, statementsOf } from "../support/storage-faults.ts";
import { ManualTimers } from "../support/timers.ts";
import { startTestWriter } from "../support/writer.ts";

function watchOver(input: Partial<StorageWatchOptions>) {
  const lines: Record<string, unknown>[] = [];
  const log = logTo((line: string) => lines.push(JSON.parse(line)));
  const watch = createStorageWatch({
    dataDir: "/",
    replaced: async () => undefined,
    writeFaults: {},
    onReplaced: () => {},
    damage: { of: () => undefined },
    log,
    ...input,
  });
  return { watch, lines };
}

const faultOf = (work: Promise<void>): Promise<unknown> => work.catch((cause) => cause);

test("a failing writer is the reason until one of its writes succeeds, and each change is logged once", async () => {
  using writer = await startTestWriter(1);
  const { watch, lines } = watchOver({
    writeFaults: { index: async () => (await writer.client.stats()).writeFault },
  });
  await watch.poll();
  expect(watch.writeFaultReason()).toBeUndefined();

  const { max_page_count: most } = writer.db.sqlite.query("PRAGMA max_page_count").get() as Record<
    string,
    number
  >;
  writer.db.sqlite.exec("PRAGMA max_page_count = 1");
  const casts = Array.from({ length: 80 }, (_, at) => cast(1, `cast ${at} ${"x".repeat(300)}`));
  for (let round = 0; round < 3; round++) {
    expect(String(await faultOf(writer.submit(...casts)))).toContain("could not store");
    await watch.poll();
    writer.db.retryWrite();
    await watch.poll();
    expect(watch.writeFaultReason()).toBe("the index cannot be written: database or disk is full");
  }
  writer.db.sqlite.exec(`PRAGMA max_page_count = ${most}`);
  await writer.submit(...casts);
  await watch.poll();
  expect(watch.writeFaultReason()).toBeUndefined();
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    ["error", "Failed to write the database"],
    ["info", "Could write the database again"],
  ]);
});

test("a writer that does not respond has neither failed nor succeeded", async () => {
  const responses: (string | null | undefined)[] = ["disk I/O error", undefined, null, undefined];
  const { watch } = watchOver({ writeFaults: { state: async () => responses.shift() } });
  const reasons: (string | undefined)[] = [];
  for (let look = 0; look < 4; look++) {
    await watch.poll();
    reasons.push(watch.writeFaultReason());
  }
  const failing = "the state cannot be written: disk I/O error";
  expect(reasons).toEqual([failing, failing, undefined, undefined]);
});

test("damage that a thread has found stays the reason, whatever is written after", async () => {
  const log = silentLog;
  const file = "/data/state.db";
  const damage = createDamageReports([{ database: "state", file }], log);
  const { watch } = watchOver({
    damage,
    writeFaults: { index: async () => "disk I/O error", state: async () => null },
  });
  damage.note({ database: "state", file: "/backups/state.db", reason: "of a copy", remedy: "restore it" });
  await watch.poll();
  expect(watch.writeFaultReason()).toBe("the index cannot be written: disk I/O error");
  damage.note({ database: "state", file, reason: "database disk image is malformed", remedy: "restore it" });
  for (let look = 0; look < 2; look++) {
    expect(watch.damageReason()).toBe("the state is damaged: database disk image is malformed");
    expect(Object.fromEntries(watch.hasFault())).toEqual({ index: true, state: true });
    await watch.poll();
  }
});

test("retries a failed database without a write, and without waiting for a lock", async () => {
  using writer = await startTestWriter(1);
  const { db } = writer;
  failStatement(db, statementsOf(db, () => db.transaction(() => {})).length, "io");
  expect(() => db.transaction(() => {})).toThrow("disk I/O error");
  {
    using other = new Database(db.file);
    other.run("BEGIN IMMEDIATE");
    db.retryWrite();
    expect(db.writeFault?.fault).toBe("io");
    other.run("ROLLBACK");
  }
  const rows = () => db.sqlite.query("SELECT * FROM __drizzle_migrations").all();
  const before = rows();
  db.retryWrite();
  expect(db.writeFault).toBeUndefined();
  expect(rows()).toEqual(before);
});

test.each([
  ["deleted", "deleted", (dir: string) => rmSync(dir, { recursive: true })],
  [
    "deleted and created again",
    "replaced",
    (dir: string) => {
      renameSync(dir, `${dir}.old`);
      mkdirSync(dir);
    },
  ],
  ["emptied", "deleted", (dir: string) => rmSync(`${dir}/index.db`)],
  [
    "replaced by another database",
    "replaced",
    (dir: string) => {
      writeFileSync(`${dir}/new`, "");
      renameSync(`${dir}/new`, `${dir}/index.db`);
    },
  ],
] as const)("detects a data directory that is %s, and reports it once", async (_, what, change) => {
  using place = tempDir();
  const dataDir = `${place.path}/data`;
  mkdirSync(dataDir);
  writeFileSync(`${dataDir}/index.db`, "");
  const reported: Replacement[] = [];
  const replaced = await watchForReplacement([dataDir, `${dataDir}/index.db`]);
  const { watch } = watchOver({ dataDir, replaced, onReplaced: (found) => reported.push(found) });
  writeFileSync(`${dataDir}/index.db`, "it may change");
  await watch.poll();
  expect(reported).toEqual([]);
  change(dataDir);
  await watch.poll();
  await watch.poll();
  expect(reported).toEqual([
    { path: expect.stringMatching(new RegExp(`^${dataDir}(/index.db)?$`)), change: what },
  ]);
});

test("watches a log from when it is there, and detects that it is deleted or replaced", async () => {
  using place = tempDir();
  const path = `${place.path}/index.db-wal`;
  const replaced = await watchForReplacement([place.path, path]);
  expect(await replaced()).toBeUndefined();
  writeFileSync(path, "");
  expect(await replaced()).toBeUndefined();
  writeFileSync(path, "commits");
  expect(await replaced()).toBeUndefined();
  rmSync(path);
  expect(await replaced()).toEqual({ path, change: "deleted" });
  writeFileSync(`${path}.new`, "");
  // An inode may be used again, so the other file is made first.
  writeFileSync(path, "");
  renameSync(`${path}.new`, path);
  expect(await replaced()).toEqual({ path, change: "replaced" });
});

test("polls a second after the end of the previous poll, until it is stopped", async () => {
  const timers = new ManualTimers();
  const clock = new ManualClock(0);
  let polls = 0;
  const next = timers.next();
  const end = scheduleStorageWatch({ poll: async () => void polls++ }, timers.after);
  await next;
  for (let n = 2; n < 5; n++) {
    expect(timers.pendingMs).toBe(1000);
    const again = timers.next();
    timers.fire(clock);
    await again;
    expect(polls).toBe(n);
  }
  end();
  expect(timers.pendingMs).toBeUndefined();
});

test("the free bytes of the file system are a metric, and so is which database cannot be written", async () => {
  const registry = new Registry();
  const writeFaults = { index: async () => "database or disk is full", state: async () => null };
  const { watch } = watchOver({ dataDir: import.meta.dir, writeFaults });
  registerFigures({ registry, prefix: "svc_" }, storageFigures, () => watch);
  await watch.poll();
  const { freeBytes, totalBytes } = watch.diskSpace() ?? { freeBytes: 0, totalBytes: 0 };
  expect(freeBytes).toBeGreaterThan(0);
  expect(totalBytes).toBeGreaterThan(freeBytes);
  const page = await registry.metrics();
  expect(page).toContain(`svc_disk_free_bytes ${freeBytes}`);
  expect(page).toContain('svc_disk_write_fault{database="index"} 1');
  expect(page).toContain('svc_disk_write_fault{database="state"} 0');
});
