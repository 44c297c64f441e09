import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { uptime } from "node:os";
import { NodeSignals } from "../../../src/cluster/node-signals.ts";
import { indexPath, openIndexReader, openIndexWriter } from "../../../src/db/index/database.ts";
import { getPosition, putPosition } from "../../../src/db/index/positions.ts";
import { findLostLog } from "../../../src/db/sqlite/lost-log.ts";
import { StorageError } from "../../../src/db/sqlite/storage-error.ts";
import { openStateWriter, statePath } from "../../../src/db/state/database.ts";
import { StateUnavailable } from "../../../src/db/state/unavailable.ts";
import { openWriterOf } from "../../../src/node/state/open-writer.ts";
import { createDamageReports } from "../../../src/node/watch/storage-watch.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { useAsForeign } from "../../support/foreign-process.ts";
import { silentLog } from "../../support/log.ts";
import { tempDir } from "../../support/program.ts";
import { cast } from "../../support/records.ts";
import { startTestWriter } from "../../support/writer.ts";

/** A writer whose log another program cuts, deletes or replaces: no commit succeeds that a kill would lose. */

const FRAME_BYTES = 4096 + 24;
const HEADER_BYTES = 32;

const put = (db: ReturnType<typeof openIndexWriter>, position: number) =>
  db.transaction(() => putPosition(db, "work", position));

/** An index with a log of some commits, the first of which is in the database file already. */
function writerOf(dir: string) {
  const db = openIndexWriter(indexPath(dir));
  put(db, 1);
  db.checkpoint();
  for (const position of [2, 3, 4]) put(db, position);
  return {
    db,
    log: `${indexPath(dir)}-wal`,
    frames: () => (statSync(`${indexPath(dir)}-wal`).size - HEADER_BYTES) / FRAME_BYTES,
  };
}

/** What a start finds after a kill at this moment. */
function positionAfterKill(dir: string): number | undefined {
  using copy = tempDir();
  for (const end of ["", "-wal"])
    if (statSync(`${indexPath(dir)}${end}`, { throwIfNoEntry: false }))
      copyFileSync(`${indexPath(dir)}${end}`, `${indexPath(copy.path)}${end}`);
  using db = openIndexWriter(indexPath(copy.path));
  expect(db.damage()).toEqual([]);
  return getPosition(db, "work");
}

function faultOf(work: () => unknown): string {
  try {
    work();
    return "none";
  } catch (cause) {
    if (!(cause instanceof StorageError)) throw cause;
    return `${cause.fault}: ${cause.reason}`;
  }
}

describe("after its log was", () => {
  test.each([
    ["emptied", 0, 1],
    ["cut within its header", 20, 1],
    ["cut at its second commit", HEADER_BYTES + FRAME_BYTES, 2],
    ["cut within a page", HEADER_BYTES + 2 * FRAME_BYTES + 1000, 3],
  ])("%s, a writer commits no more, and a start finds what the log still had", (_, bytes, kept) => {
    using dir = tempDir();
    const { db, log } = writerOf(dir.path);
    expect(statSync(log).size).toBe(HEADER_BYTES + 3 * FRAME_BYTES);
    truncateSync(log, bytes);
    for (const position of [5, 6]) expect(faultOf(() => put(db, position))).toContain("log_lost: ");
    expect(db.writeFault?.isDamage).toBe(true);
    expect(positionAfterKill(dir.path)).toBe(kept);
    // The end of the process closes all connections, which must not bring the hole into the database.
    db[Symbol.dispose]();
    expect(positionAfterKill(dir.path)).toBe(kept);
  });

  test.each([
    ["emptied", 0, 1],
    ["cut at its second commit", HEADER_BYTES + FRAME_BYTES, 2],
  ])("%s during a transaction, its commit fails", (_, bytes, kept) => {
    using dir = tempDir();
    const { db, log } = writerOf(dir.path);
    const commit = () =>
      db.transaction(() => {
        putPosition(db, "work", 5);
        truncateSync(log, bytes);
      });
    expect(faultOf(commit)).toContain("log_lost: ");
    expect(faultOf(() => put(db, 6))).toContain("log_lost: ");
    db[Symbol.dispose]();
    expect(positionAfterKill(dir.path)).toBe(kept);
  });

  test("deleted, a writer commits no more, and has moved what the log held into the database", () => {
    using dir = tempDir();
    const { db, log } = writerOf(dir.path);
    rmSync(log);
    expect(faultOf(() => put(db, 5))).toBe(`deleted: ${log} was deleted`);
    expect(positionAfterKill(dir.path)).toBe(4);
    db[Symbol.dispose]();
  });

  test("moved to another name during a transaction, its commit fails", () => {
    using dir = tempDir();
    const { db, log } = writerOf(dir.path);
    const commit = () =>
      db.transaction(() => {
        putPosition(db, "work", 5);
        renameSync(log, `${log}.away`);
      });
    expect(faultOf(commit)).toBe(`deleted: ${log} was deleted`);
    db[Symbol.dispose]();
  });

  test("replaced by another file, a writer commits no more", () => {
    using dir = tempDir();
    const { db, log } = writerOf(dir.path);
    writeFileSync(`${log}.other`, readFileSync(log));
    renameSync(`${log}.other`, log);
    expect(faultOf(() => put(db, 5))).toBe(`replaced: ${log} was replaced`);
    db[Symbol.dispose]();
  });
});

test("a writer whose database file is deleted commits no more", () => {
  using dir = tempDir();
  const { db } = writerOf(dir.path);
  rmSync(indexPath(dir.path));
  expect(faultOf(() => put(db, 5))).toBe(`deleted: ${indexPath(dir.path)} was deleted`);
  db[Symbol.dispose]();
});

describe("after the log of its database was emptied", () => {
  test("the writer of the index refuses messages and relayed blocks", async () => {
    using writer = await startTestWriter(1);
    truncateSync(`${indexPath(writer.dir)}-wal`);
    // `expect(…).rejects` would wait without letting messages between ports through.
    const failureOf = (work: Promise<unknown>) => work.then(String, String);
    expect(await failureOf(writer.submit(cast(1, "one")))).toContain("its index is damaged");
    const relayed = writer.client.relay({ ops: [], positions: [{ key: "shard", position: 7 }] });
    expect(await failureOf(relayed)).toContain("index.db-wal was cut");
    expect((await writer.client.stats()).writeFault).toContain("index.db-wal was cut");
    expect(await failureOf(writer.submit(cast(1, "two")))).toContain("its index is damaged");
  });

  test("the writer of the state fails every decision as unavailable", async () => {
    using dir = tempDir();
    const db = openStateWriter(statePath(dir.path));
    const writer = openWriterOf(db, { limits: { maxQueued: 1 }, clock: systemClock });
    const spend = (fid: number) =>
      writer.call({
        store: "nonces",
        method: "spend",
        args: [
          { fid, nonce: new Uint8Array(32) },
          { nowSecs: 1, validUntil: 300, expiresAt: 600 },
        ],
      });
    await spend(1);
    truncateSync(`${statePath(dir.path)}-wal`);
    for (const fid of [2, 3])
      expect(await spend(fid).catch((cause) => cause)).toBeInstanceOf(StateUnavailable);
    expect(writer.stats().failure).toContain("state.db-wal was cut");
    db[Symbol.dispose]();
  });

  test("a writer commits nothing more once another thread has found damage", () => {
    using dir = tempDir();
    using db = writerOf(dir.path).db;
    const signals = new NodeSignals();
    db.isDamagedElsewhere = () => signals.isDamaged("index");
    const database = { database: "index", file: indexPath(dir.path) } as const;
    const reports = createDamageReports([database], silentLog, signals);
    put(db, 5);
    reports.note({ ...database, reason: "database disk image is malformed", remedy: "restore it" });
    expect(signals.isDamaged("state")).toBe(false);
    expect(faultOf(() => put(db, 6))).toContain("corrupt: ");
    expect(getPosition(db, "work")).toBe(5);
  });
});

describe("at the start after a kill", () => {
  /** The files as a kill leaves them at this moment. */
  function killed(dir: string): string {
    for (const end of ["", "-wal", "-shm"])
      copyFileSync(`${indexPath(dir)}${end}`, `${indexPath(`${dir}/copy`)}${end}`);
    return indexPath(`${dir}/copy`);
  }

  function afterKill() {
    const dir = tempDir();
    mkdirSync(`${dir.path}/copy`);
    const { db } = writerOf(dir.path);
    const file = killed(dir.path);
    return {
      db,
      file,
      again: () => killed(dir.path),
      [Symbol.dispose]() {
        db[Symbol.dispose]();
        dir[Symbol.dispose]();
      },
    };
  }

  test.each([
    ["whole", () => {}, undefined],
    ["cut at its second commit", (log: string) => truncateSync(log, HEADER_BYTES + FRAME_BYTES), 2],
    ["emptied", (log: string) => truncateSync(log), 3],
    ["deleted", (log: string) => rmSync(log), 3],
    ["emptied and written on", (log: string) => [truncateSync(log), truncateSync(log, 99_999)], 3],
  ])("a log that is %s is known by what it lost", (_, change, pages) => {
    using kill = afterKill();
    change(`${kill.file}-wal`);
    expect(findLostLog(kill.file)?.pages).toBe(pages as number);
    openIndexWriter(kill.file)[Symbol.dispose]();
    expect(findLostLog(kill.file)).toBeUndefined();
  });

  test("a log whose pages are all in the database, and one that a power failure may have cut, have lost nothing that is known", () => {
    using kill = afterKill();
    kill.db.checkpoint("PASSIVE");
    rmSync(`${kill.again()}-wal`);
    expect(findLostLog(kill.file)).toBeUndefined();
    put(kill.db, 9);
    rmSync(`${kill.again()}-wal`);
    expect(findLostLog(kill.file)?.pages).toBeGreaterThan(0);
    const beforeBoot = Date.now() / 1000 - uptime() - 60;
    utimesSync(`${kill.file}-shm`, beforeBoot, beforeBoot);
    expect(findLostLog(kill.file)).toBeUndefined();
  });
});

test("the checkpoints, restarts and truncations of its own and of other programs do not stop a writer", () => {
  using dir = tempDir();
  const path = indexPath(dir.path);
  using db = openIndexWriter(path);
  using reader = openIndexReader(path);
  let position = 0;
  const write = (times: number) => {
    for (let i = 0; i < times; i++) put(db, ++position);
  };
  write(3);
  for (const mode of ["PASSIVE", "TRUNCATE", "PASSIVE"] as const) {
    db.checkpoint(mode);
    write(2);
  }
  db.sqlite.exec("PRAGMA wal_autocheckpoint = 2");
  write(5);
  // A reader that holds its snapshot keeps the log from starting over.
  reader.snapshot(() => {
    getPosition(reader, "work");
    write(5);
    db.checkpoint("PASSIVE");
    write(5);
  });
  write(5);
  db.sqlite.exec("PRAGMA journal_size_limit = 0");
  db.transaction(() => {
    for (let at = 0; at < 300; at++) putPosition(db, `work ${at} ${randomBytes(400).toString("hex")}`, at);
  });
  db.checkpoint("PASSIVE");
  write(5);
  expect(useAsForeign(path, ["read", "checkpoint", "write"])).toEqual(["", "", ""]);
  write(2);
  // What is in the database file already is not lost with the log.
  db.checkpoint("PASSIVE");
  truncateSync(`${path}-wal`, 0);
  write(2);
  expect(positionAfterKill(dir.path)).toBe(position);
});
