import { describe, expect, test } from "bun:test";
import { readTotals } from "../../src/db/index/counts/totals.ts";
import {
  type IndexDatabase,
  indexPath,
  openIndexInMemory,
  openIndexWriter,
} from "../../src/db/index/database.ts";
import { getPosition } from "../../src/db/index/positions.ts";
import { StorageError } from "../../src/db/sqlite/storage-error.ts";
import { createImportSink } from "../../src/import/import-sink.ts";
import { ImportInterrupted, runImport } from "../../src/import/run-import.ts";
import { writeRecords } from "../../src/import/write-records.ts";
import type { Verifier } from "../../src/ingest/bulk/verify/verifier.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { ANCHOR_SECS, demoRecords } from "../demo/records.ts";
import { ManualClock } from "../support/clock.ts";
import { dumpIndex } from "../support/dump.ts";
import { historyVerifier } from "../support/history-verifier.ts";
import { IS_LONG } from "../support/long.ts";
import { mixedRecords } from "../support/mixed-records.ts";
import { tempDir } from "../support/program.ts";
import { type FaultSpan, type InjectedFault, withFaultAtEveryStatement } from "../support/storage-faults.ts";

const BATCH_RECORDS = 8;

/** What valid records were found, by their bytes: hundreds of runs over one file would verify its signatures again each time. */
const valid = new Set<string>();

/** A verifier that verifies records which it has found valid in an earlier run only where they are packed for the spool. */
function remembering(verifier: Verifier): Verifier {
  return {
    verifyPage: verifier.verifyPage,
    verifySnapshot: verifier.verifySnapshot,
    async validateRecords(records, options) {
      const keys = records.map(({ bytes }) => Bun.hash(bytes).toString(36));
      if (!options.collectsCandidates && keys.every((key) => valid.has(key)))
        return { refusals: new Map(), candidates: [] };
      const validated = await verifier.validateRecords(records, options);
      for (const [at, key] of keys.entries()) if (!validated.refusals.has(at)) valid.add(key);
      return validated;
    },
  };
}

/** Imports into an index. `onFault` is called for a record that causes an unexpected fault. */
function importer(
  db: IndexDatabase,
  batchRecords?: number,
  onFault: (cause: unknown) => void = () => {},
  isBulk = false,
) {
  const clock = new ManualClock(ANCHOR_SECS);
  const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
  const engine = createIngestEngine({ db, network, clock, onFault });
  const verifier = remembering(historyVerifier(network, clock));
  const sink = createImportSink({ db, engine, verifier, fileBytes: isBulk ? 1e7 : 0 });
  const positions = { get: (key: string) => getPosition(db, key) };
  return (path: string) => runImport({ path, sink, positions, clock, ...(batchRecords && { batchRecords }) });
}

/** Returns the contents of the index after an import without faults. */
async function undisturbed(path: string): Promise<string> {
  using db = openIndexInMemory();
  const report = await importer(db)(path);
  expect(report.outcome).toBe("complete");
  return dumpIndex(db);
}

for (const isBulk of [false, true])
  describe(`an import ${isBulk ? "with the bulk build" : "row by row"} that a storage fault interrupts is completed by the next runs`, () => {
    /** A full disk may have room for one table but not for another. A lock of another process ends between transactions. */
    const cases: { fault: InjectedFault; span: FaultSpan; rollsBack: boolean }[] = [
      { fault: "full", span: "same statement", rollsBack: false },
      { fault: "busy", span: { statements: BATCH_RECORDS + 1 }, rollsBack: false },
      { fault: "io", span: "once", rollsBack: true },
    ];
    for (const { fault, ...options } of cases) {
      // Each statement fails in one place, and in the long form wherever it runs.
      test(`${fault}, at every ${IS_LONG ? "statement of every transaction" : "kind of statement"}`, async () => {
        using dir = tempDir();
        const path = `${dir.path}/records`;
        await writeRecords(path, mixedRecords());
        const whole = await undisturbed(path);
        using db = openIndexInMemory();
        const run = importer(db, BATCH_RECORDS, undefined, isBulk);
        const { faults, failed } = await withFaultAtEveryStatement(db, fault, () => run(path), {
          ...options,
          ...(IS_LONG ? {} : { perName: 1 }),
        });
        expect(faults).toBeGreaterThan(IS_LONG ? 400 : 60);
        const insert = isBulk ? "bulk.spool.cast" : "messages.insert";
        for (const name of ["BEGIN IMMEDIATE", "COMMIT", insert, "positions.put"])
          expect([...failed]).toContain(name);
        expect(dumpIndex(db)).toBe(whole);
      }, 180_000);
    }

    test("of thousands of records, at each 997th statement", async () => {
      using dir = tempDir();
      const path = `${dir.path}/records`;
      await writeRecords(path, demoRecords().slice(0, 2500));
      using db = openIndexInMemory();
      const run = importer(db, undefined, undefined, isBulk);
      await withFaultAtEveryStatement(db, "full", () => run(path), { span: "same statement", every: 997 });
      expect(dumpIndex(db)).toBe(await undisturbed(path));
    }, 180_000);
  });

test("an import that fills the disk reports what is stored and is completed once there is room", async () => {
  using dir = tempDir();
  const path = `${dir.path}/records`;
  const records = demoRecords().slice(0, 2500);
  await writeRecords(path, records);
  using db = openIndexWriter(indexPath(dir.path));
  const run = importer(db);
  const pages = db.sizeBytes() / 4096;
  let stored = 0;
  let brokeOff = 0;
  for (let room = 40; ; room += 80) {
    db.sqlite.exec(`PRAGMA max_page_count = ${pages + room}`);
    try {
      const { summary, fromOffset } = await run(path);
      expect(fromOffset).toBeGreaterThan(0);
      stored += sum(summary.accepted) + summary.known;
      break;
    } catch (cause) {
      expect(cause).toBeInstanceOf(ImportInterrupted);
      const { report, cause: fault } = cause as ImportInterrupted;
      expect(fault).toMatchObject({ fault: "full" });
      stored += sum(report.summary.accepted);
      expect(report.summary.refused).toBe(0);
      const { messages, on_chain_events } = readTotals(db);
      // Besides these, only username proofs are stored.
      expect(stored).toBeGreaterThanOrEqual(messages + on_chain_events);
      brokeOff += 1;
    }
  }
  expect(brokeOff).toBeGreaterThan(1);
  expect(stored).toBe(records.length);
  expect(dumpIndex(db)).toBe(await undisturbed(path));
});

test("an import that a lock of another process interrupts is completed by the next run", async () => {
  using dir = tempDir();
  const path = `${dir.path}/records`;
  await writeRecords(path, mixedRecords());
  using db = openIndexWriter(indexPath(dir.path));
  db.sqlite.exec("PRAGMA busy_timeout = 50");
  using other = openIndexWriter(indexPath(dir.path));
  other.sqlite.exec("BEGIN IMMEDIATE");
  const run = importer(db);
  const broken = await run(path).catch((cause) => cause);
  expect(broken).toBeInstanceOf(ImportInterrupted);
  expect(broken.cause).toBeInstanceOf(StorageError);
  expect(broken.cause).toMatchObject({ fault: "busy", file: indexPath(dir.path) });
  expect(broken.report).toMatchObject({ fromOffset: 0, toOffset: 0 });
  other.sqlite.exec("ROLLBACK");
  expect(await run(path)).toMatchObject({ outcome: "complete", summary: { known: 0, refused: 0 } });
  expect(dumpIndex(db)).toBe(await undisturbed(path));
});

test("a record that causes an unexpected fault does not affect the others, and the position stays before it", async () => {
  using dir = tempDir();
  const path = `${dir.path}/records`;
  await writeRecords(path, mixedRecords());
  using db = openIndexInMemory();
  const faults: unknown[] = [];
  const run = importer(db, BATCH_RECORDS, (cause) => faults.push(cause));
  db.sqlite.exec(
    `CREATE TRIGGER poison BEFORE INSERT ON reactions BEGIN SELECT RAISE(ABORT, 'not this one'); END`,
  );
  const first = await run(path);
  expect(faults.length).toBeGreaterThan(0);
  expect(first.outcome).toBe("unstored");
  expect(first.toOffset).toBeLessThan(Bun.file(path).size);
  expect(first.summary.refusals.map(({ code }) => code)).toContain("unavailable");
  // The records after the first faulty one are already stored.
  expect(readTotals(db).links).toBeGreaterThan(0);
  db.sqlite.exec("DROP TRIGGER poison");
  expect(await run(path)).toMatchObject({ outcome: "complete", fromOffset: first.toOffset });
  expect(dumpIndex(db)).toBe(await undisturbed(path));
});

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
