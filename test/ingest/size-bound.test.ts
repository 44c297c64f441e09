import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IndexDatabase, openIndexInMemory } from "../../src/db/index/database.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import { decodeRecord } from "../../src/ingest/record.ts";
import {
  createSizeBound,
  INDEX_FULL,
  IndexFullError,
  logSizeLevel,
  type SizeLevel,
} from "../../src/ingest/size-bound.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { ManualClock } from "../support/clock.ts";
import { createIndex } from "../support/empty-databases.ts";
import { logTo } from "../support/log.ts";
import { DEFAULT_NOW_SECS } from "../support/messages.ts";
import { accountRecords } from "../support/node.ts";
import { expectOk } from "../support/result.ts";

const BYTES = 4096;

function index(): IndexDatabase {
  const db = openIndexInMemory();
  db.sqlite.exec("CREATE TABLE filler (content BLOB)");
  return db;
}

/** Lets the used pages of the file be `pages`, at least what the schema takes. */
function fill(db: IndexDatabase, pages: number): void {
  db.sqlite.exec("DELETE FROM filler");
  const { all, free } = db.pages();
  for (let n = all - free; n < pages; n++)
    db.sqlite.exec("INSERT INTO filler (content) VALUES (zeroblob(4000))");
}

const used = (db: IndexDatabase) => db.pages().all - db.pages().free;

describe("the bound of the index", () => {
  test("warns at 90 %, is full at the bound, has room below 99 %, and warns again after it was below 85 %", () => {
    using db = index();
    const changes: string[] = [];
    let pages = 0;
    const onLevel = (level: SizeLevel) => changes.push(`${level} at ${pages}`);
    const bound = createSizeBound({ db, maxBytes: 1000 * BYTES, onLevel });
    for (pages of [800, 880, 910, 880, 910, 1001, 995, 980, 995, 1001, 800, 910]) {
      fill(db, pages);
      bound.size();
    }
    expect(changes).toEqual([
      "near at 910",
      "full at 1001",
      "near at 980",
      "full at 1001",
      "room at 800",
      "near at 910",
    ]);
  });

  test("is full at the bound only, and once full down to 99 %", () => {
    using db = index();
    const bound = createSizeBound({ db, maxBytes: 1000 * BYTES });
    const isFull = (pages: number) => {
      fill(db, pages);
      return bound.isFull();
    };
    expect([995, 1001, 995, 980, 995].map(isFull)).toEqual([false, true, true, false, false]);
  });

  test("counts no free pages: what was deleted makes room", () => {
    using db = index();
    fill(db, 1001);
    const bound = createSizeBound({ db, maxBytes: 1000 * BYTES });
    expect(bound.isFull()).toBe(true);
    fill(db, 500);
    expect(db.pages().all).toBeGreaterThan(1000);
    expect(bound.isFull()).toBe(false);
    expect(bound.size()).toEqual({ bytes: used(db) * BYTES, maxBytes: 1000 * BYTES, isFull: false });
  });

  test("deletes what it can spare, a slice at a time, before it is full", () => {
    using db = index();
    fill(db, 1030);
    let nowMs = 0;
    let spare = 3;
    let asked = 0;
    const bound = createSizeBound({
      db,
      maxBytes: 1000 * BYTES,
      nowMs: () => nowMs,
      shrink() {
        asked++;
        if (spare === 0) return false;
        spare--;
        db.sqlite.exec("DELETE FROM filler WHERE rowid IN (SELECT rowid FROM filler LIMIT 15)");
        return true;
      },
    });
    expect([bound.isFull(), spare, used(db) < 1000]).toEqual([false, 0, true]);
    fill(db, 1001);
    expect([bound.isFull(), bound.isFull(), asked]).toEqual([true, true, 4]);
    nowMs = 1000;
    expect([bound.isFull(), asked]).toEqual([true, 5]);
    spare = 100;
    nowMs = 2000;
    expect([bound.isFull(), spare]).toEqual([false, 99]);
    fill(db, 3000);
    expect([bound.isFull(), spare]).toEqual([true, 89]);
  });

  test("0 means no bound", () => {
    using db = index();
    const bound = createSizeBound({ db, maxBytes: 0 });
    expect(bound.isFull()).toBe(false);
    expect(bound.size()).toEqual({ bytes: used(db) * BYTES, maxBytes: null, isFull: false });
  });

  test("a spool is full at half of it, and its build is let through", () => {
    using db = index();
    fill(db, 600);
    const bound = createSizeBound({ db, maxBytes: 1000 * BYTES });
    bound.setPhase("spooling");
    expect(bound.isFull()).toBe(true);
    bound.setPhase("building");
    fill(db, 1500);
    expect(bound.isFull()).toBe(false);
    bound.setPhase("finished");
    expect(bound.isFull()).toBe(true);
  });
});

describe("the write-ahead log", () => {
  const PAGES = 500;

  /** An index with a log that is about as large as its pages. */
  function fileIndex() {
    const dir = mkdtempSync(join(tmpdir(), "size-bound-test-"));
    const db = createIndex(dir);
    db.sqlite.exec("CREATE TABLE filler (content BLOB)");
    db.checkpoint();
    return {
      db,
      write: (pages: number) =>
        db.transaction(() => {
          db.sqlite.exec("DELETE FROM filler");
          for (let n = 0; n < pages; n++)
            db.sqlite.exec("INSERT INTO filler (content) VALUES (zeroblob(4000))");
        }),
      logBytes: () => statSync(`${db.file}-wal`).size,
      [Symbol.dispose]() {
        db[Symbol.dispose]();
        rmSync(dir, { recursive: true });
      },
    };
  }

  test("counts towards the bound, and is emptied before that is reached, at most once in five seconds", () => {
    using index = fileIndex();
    const { db, write, logBytes } = index;
    write(PAGES);
    const { bytes } = createSizeBound({ db, maxBytes: 0 }).size();
    expect(bytes).toBe(used(db) * BYTES + logBytes());
    expect(logBytes()).toBeGreaterThan(PAGES * BYTES);
    let nowMs = 1000;
    const bound = createSizeBound({ db, maxBytes: bytes, nowMs: () => nowMs });
    expect([bound.isFull(), logBytes()]).toEqual([false, 0]);
    write(PAGES);
    nowMs += 4999;
    expect([bound.isFull(), logBytes() > 0]).toEqual([true, true]);
    nowMs += 1;
    expect([bound.isFull(), logBytes()]).toEqual([false, 0]);
  });

  test("that is less than a sixteenth of the bound stays", () => {
    using index = fileIndex();
    const { db, write, logBytes } = index;
    write(PAGES);
    db.checkpoint();
    db.sqlite.exec("INSERT INTO filler (content) VALUES (1)");
    const before = logBytes();
    expect(before).toBeGreaterThan(0);
    const { bytes } = createSizeBound({ db, maxBytes: 0 }).size();
    const bound = createSizeBound({ db, maxBytes: bytes });
    expect([bound.isFull(), logBytes()]).toEqual([true, before]);
  });
});

test("an operator reads that the bound comes close, is reached, and that there is room again", () => {
  const lines: string[] = [];
  const log = logTo((line) => lines.push(`${line}`));
  const size = { bytes: 1, maxBytes: 2, isFull: false };
  const said = (level: SizeLevel, before: SizeLevel) => {
    lines.length = 0;
    logSizeLevel(log, level, before, size);
    return lines.map((line) => JSON.parse(line).msg);
  };
  const again = ["The index has room again: merging goes on"];
  expect(said("near", "room")).toEqual(["The index comes close to index.max_bytes"]);
  expect(said("full", "near")).toEqual(["The index has reached index.max_bytes: nothing more is merged"]);
  expect([said("near", "full"), said("room", "full")]).toEqual([again, again]);
  expect(said("room", "near")).toEqual([]);
});

test("an engine at its bound refuses records and batches, changes nothing, and takes them when there is room", () => {
  using db = openIndexInMemory();
  let isFull = true;
  const engine = createIngestEngine({
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock: new ManualClock(DEFAULT_NOW_SECS),
    onFault: (cause) => {
      throw cause;
    },
    bound: {
      isFull: () => isFull,
      size: () => ({ bytes: 1, maxBytes: 1, isFull }),
      setPhase: () => {},
    },
  });
  const records = accountRecords(5).map((record) => expectOk(decodeRecord(record)));
  const before = db.sqlite.query("SELECT total_changes() AS n").get();
  expect(engine.apply(records)).toEqual(records.map(() => INDEX_FULL));
  const positions = [{ key: "a", position: 1 }];
  expect(() => engine.applyResumable(records, positions)).toThrow(IndexFullError);
  expect(() => engine.applyRelayed({ ops: [], positions })).toThrow(IndexFullError);
  expect(() => engine.applyRelayed({ ops: [], positions, spooled: [] })).toThrow(IndexFullError);
  const batch = { records: [], validated: { refusals: new Map(), candidates: undefined } };
  expect(() => engine.spoolImport(batch as never, positions, 1)).toThrow(IndexFullError);
  expect(db.sqlite.query("SELECT total_changes() AS n").get()).toEqual(before);
  isFull = false;
  expect(engine.apply(records)).toEqual(records.map(() => undefined));
});
