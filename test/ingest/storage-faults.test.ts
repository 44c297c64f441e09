import { expect, test } from "bun:test";
import { type IndexDatabase, openIndexInMemory } from "../../src/db/index/database.ts";
import { getPosition } from "../../src/db/index/positions.ts";
import { todoAfter } from "../../src/db/index/upstream-work.ts";
import { createIngestEngine, type IngestEngine } from "../../src/ingest/engine.ts";
import { decodeRecord, type EncodedRecord } from "../../src/ingest/record.ts";
import type { RelayedOp } from "../../src/ingest/relayed-op.ts";
import { IngestQueue } from "../../src/ingest/thread/queue.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { ANCHOR_SECS } from "../demo/records.ts";
import { ManualClock } from "../support/clock.ts";
import { dumpIndex } from "../support/dump.ts";
import { mixedRecords } from "../support/mixed-records.ts";
import { accountRecords } from "../support/node.ts";
import { cast } from "../support/records.ts";
import { expectOk } from "../support/result.ts";
import {
  type FaultSpan,
  type InjectedFault,
  sqliteError,
  withFaultAtEveryStatement,
} from "../support/storage-faults.ts";

const BATCH = 8;
const records = mixedRecords({ fids: 2 });
const batches = Array.from({ length: Math.ceil(records.length / BATCH) }, (_, at) =>
  records.slice(at * BATCH, (at + 1) * BATCH),
);
const cases: { fault: InjectedFault; span: FaultSpan; rollsBack: boolean }[] = [
  { fault: "full", span: "same statement", rollsBack: true },
  { fault: "busy", span: { statements: BATCH + 1 }, rollsBack: false },
  { fault: "io", span: "once", rollsBack: false },
];

function engineOver(db: IndexDatabase): IngestEngine {
  return createIngestEngine({
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock: new ManualClock(ANCHOR_SECS),
    onFault: () => {},
  });
}

/** The contents of the index without faults. */
async function undisturbed(work: (db: IndexDatabase) => () => unknown): Promise<string> {
  using db = openIndexInMemory();
  await work(db)();
  return dumpIndex(db);
}

const POSITION = "upstream 1 applied";

/** Applies each batch as a followed block, from the durable position on. */
function following(db: IndexDatabase) {
  const engine = engineOver(db);
  return () => {
    for (const [block, batch] of batches.entries()) {
      if (block < (getPosition(db, POSITION) ?? 0)) continue;
      const fid = block + 1;
      engine.applyRelayed({
        ops: [...batch.map(relayed), { kind: "fidComplete", fid, happenedAt: 0 }],
        todo: [fid + 1],
        positions: [{ key: POSITION, position: block + 1 }],
      });
    }
  };
}

function relayed({ kind, bytes }: EncodedRecord): RelayedOp {
  const happenedAt = ANCHOR_SECS;
  if (kind === "message") return { kind: "merge", message: bytes, deleted: [], happenedAt };
  if (kind === "onChainEvent") return { kind, event: bytes, happenedAt };
  return { kind: "proof", added: bytes, happenedAt };
}

test.each(cases)("following skips no record after the fault '$fault'", async (options) => {
  using db = openIndexInMemory();
  const { faults } = await withFaultAtEveryStatement(db, options.fault, following(db), options);
  expect(faults).toBeGreaterThan(200);
  expect(dumpIndex(db)).toBe(await undisturbed(following));
  expect(todoAfter(db, 0, 100)).toEqual([batches.length + 1]);
});

/** Submits in bulk, and submits again only the records that the node could not store. */
function submitting(db: IndexDatabase) {
  const queue = new IngestQueue(engineOver(db));
  const isAcknowledged = new Set<EncodedRecord>();
  return async () => {
    for (const batch of batches) {
      const open = batch.filter((record) => !isAcknowledged.has(record));
      if (open.length === 0) continue;
      const verdicts = await queue.submit(open.map((record) => expectOk(decodeRecord(record))));
      for (const [at, record] of open.entries()) {
        if (verdicts[at]?.code === "unavailable") continue;
        isAcknowledged.add(record);
      }
      if (verdicts.some((verdict) => verdict?.code === "unavailable")) throw new Error("try again");
    }
  };
}

test.each(cases)(
  "a bulk submit acknowledges no record that was lost to the fault '$fault'",
  async (options) => {
    using db = openIndexInMemory();
    const { faults } = await withFaultAtEveryStatement(db, options.fault, submitting(db), options);
    expect(faults).toBeGreaterThan(200);
    expect(dumpIndex(db)).toBe(await undisturbed(submitting));
  },
);

test("records of a commit that fails once are stored one by one, and its positions after them", () => {
  using db = openIndexInMemory();
  const decoded = [...accountRecords(1), cast(1, "gm")].map((record) => expectOk(decodeRecord(record)));
  db.beforeStatement = (name) => {
    if (name !== "COMMIT") return;
    db.beforeStatement = undefined;
    throw new Error("a fault that does not recur");
  };
  const outcomes = engineOver(db).applyResumable(decoded, [{ key: POSITION, position: 7 }]);
  expect(outcomes).toEqual(decoded.map(() => undefined));
  expect(getPosition(db, POSITION)).toBe(7);
});

test("a key whose commit was rolled back signs nothing", () => {
  using db = openIndexInMemory();
  const engine = engineOver(db);
  const decode = (some: readonly EncodedRecord[]) => some.map((record) => expectOk(decodeRecord(record)));
  const message = decode([cast(1, "gm")]);
  db.beforeStatement = (name) => {
    if (name !== "COMMIT") return;
    db.beforeStatement = undefined;
    throw sqliteError("full");
  };
  const lost = engine.apply([...decode(accountRecords(1)), ...message]);
  expect(new Set(lost.map((outcome) => outcome?.code))).toEqual(new Set(["unavailable"]));
  expect(engine.apply(message)).toEqual([expect.objectContaining({ reason: "fid 1 is not registered" })]);
  expect(engine.apply([...decode(accountRecords(1)), ...message]).every((outcome) => !outcome)).toBe(true);
});

test("tries a commit once if the database cannot be written, regardless of the number of records", async () => {
  using db = openIndexInMemory();
  const queue = new IngestQueue(engineOver(db));
  let begins = 0;
  db.beforeStatement = (name) => {
    if (!name.startsWith("BEGIN")) return;
    begins += 1;
    throw Object.assign(new Error("database is locked"), {
      name: "SQLiteError",
      code: "SQLITE_BUSY",
      errno: 5,
    });
  };
  const decoded = records.map((record) => expectOk(decodeRecord(record)));
  const verdicts = await queue.submit(decoded);
  expect(new Set(verdicts.map((verdict) => verdict?.code))).toEqual(new Set(["unavailable"]));
  expect(begins).toBe(1);
});
