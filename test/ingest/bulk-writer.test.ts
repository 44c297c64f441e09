import { afterEach, beforeEach, expect, test } from "bun:test";
import { isBulkBuilding } from "../../src/db/index/bulk/bulk-state.ts";
import { isSpooledFid, spooledParts } from "../../src/db/index/bulk/spool-tables.ts";
import { readTotals } from "../../src/db/index/counts/totals.ts";
import { type IndexDatabase, openIndexInMemory } from "../../src/db/index/database.ts";
import { getPosition } from "../../src/db/index/positions.ts";
import { correction } from "../../src/db/index/trie/corrections.ts";
import { createIngestEngine, type IngestEngine } from "../../src/ingest/engine.ts";
import { decodeRecord, type EncodedRecord } from "../../src/ingest/record.ts";
import type { RelayedOp } from "../../src/ingest/relayed-op.ts";
import { packBytes } from "../../src/lib/bytes.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { onChainKey, type TrieKey } from "../../src/trust/trie-key.ts";
import { registers as registersChannel } from "../support/channel-records.ts";
import { ManualClock } from "../support/clock.ts";
import { DEFAULT_NOW_SECS } from "../support/messages.ts";
import { accountRecords } from "../support/node.ts";
import { cast } from "../support/records.ts";
import { expectOk } from "../support/result.ts";
import { unverifiedRecords } from "../support/unverified-records.ts";

let db: IndexDatabase;
let engine: IngestEngine;
let faults: string[];
beforeEach(() => {
  db = openIndexInMemory();
  faults = [];
  engine = startEngine();
});
afterEach(() => db[Symbol.dispose]());

const startEngine = (): IngestEngine =>
  createIngestEngine({
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock: new ManualClock(DEFAULT_NOW_SECS),
    onFault: (cause) => faults.push(String(cause)),
  });

const merge = (...records: readonly EncodedRecord[]) =>
  engine
    .apply(records.map((record) => expectOk(decodeRecord(record))))
    .map((outcome) => outcome?.code ?? "ok");
const spool = (...ops: readonly RelayedOp[]) => engine.applyRelayed({ ops, positions: [], spooled: [] });

function build(): void {
  while (engine.buildStep());
}

const [registration, key, rent] = accountRecords(1) as [EncodedRecord, EncodedRecord, EncodedRecord];

test("storage that is rented while the index is built counts from its end on", () => {
  expect(merge(registration, key, cast(1, "without storage"))).toEqual(["ok", "ok", "bad_request.prunable"]);
  spool({ kind: "onChainEvent", event: rent.bytes, happenedAt: 0 });
  build();
  expect(merge(cast(1, "with storage"))).toEqual(["ok"]);
});

test("an index that is not being built has no step to make", () => {
  merge(registration, key, rent, cast(1, "gm"));
  expect(engine.buildStep()).toBeUndefined();
});

test("an operation that needs the index is reported while that is built, and the others are applied", () => {
  spool(
    { kind: "put", message: cast(1, "gm").bytes, happenedAt: 0 },
    { kind: "onChainEvent", event: registration.bytes, happenedAt: 0 },
  );
  build();
  expect(faults).toEqual(["Error: the operation put needs the index that is being built"]);
  expect(merge(key, rent, cast(1, "gm"))).toEqual(["ok", "ok", "ok"]);
});

test("a build that is interrupted is continued by the next engine", () => {
  spool({ kind: "onChainEvent", event: registration.bytes, happenedAt: 0 });
  engine = startEngine();
  build();
  expect(isBulkBuilding(db)).toBe(false);
  expect(merge(key, rent, cast(1, "gm"))).toEqual(["ok", "ok", "ok"]);
});

test("a batch of a fill is stored with its parts, the keys of its accounts and its positions", () => {
  const [, event] = accountRecords(2) as [EncodedRecord, EncodedRecord];
  const key = onChainKey(event.bytes) as TrieKey;
  const part = { shard: 1, virtualShard: 3, height: 9, fid: 2, token: null, isDone: true };
  engine.applyRelayed({
    ops: [],
    positions: [{ key: "fill", position: 5 }],
    spooled: [],
    spooledParts: [part],
    snapshotKeys: [{ shard: 1, keys: packBytes([key]), keyAdds: [], opaque: [] }],
  });
  expect(spooledParts(db)).toMatchObject([part]);
  expect([correction(db, 1, key), getPosition(db, "fill")]).toEqual([true, 5]);
});

test("what a fill merges is counted once, also in a batch that is repeated without an operation that it cannot apply", () => {
  const registers = (key: string): RelayedOp => ({
    kind: "registration",
    event: registersChannel(key, new Uint8Array(20).fill(1)).bytes,
    decision: undefined,
    happenedAt: 0,
  });
  spool(registers("books"), { kind: "put", message: cast(1, "gm").bytes, happenedAt: 0 }, registers("poems"));
  expect(faults).toHaveLength(1);
  const rows = db.sqlite.query("SELECT count(*) FROM on_chain_events").values().flat();
  expect([readTotals(db).on_chain_events, ...rows]).toEqual([2, 2]);
});

test("a fill that is resumed knows whose messages are all in the spool", () => {
  const complete: RelayedOp = { kind: "fidComplete", fid: 7, happenedAt: 0 };
  engine.applyRelayed({ ops: [complete], positions: [], spooled: [], spooledFids: [5, 6] });
  expect([4, 5, 6, 7].map((fid) => isSpooledFid(db, fid))).toEqual([false, true, true, true]);
});

test("an import that could not store one record stores and counts the others once, and not its position", () => {
  const records = [registration, key, rent, cast(1, "gm")];
  const batch = {
    records: records.map((record, offset) => ({ record, offset })),
    validated: unverifiedRecords(records),
  };
  const positions = [{ key: "import", position: 7 }];
  let events = 0;
  db.beforeStatement = (name) => {
    if (name === "registry.insert-event" && ++events === 3) throw new Error("a fault of one record");
  };
  const outcomes = engine.spoolImport(batch, positions, 100);
  expect(outcomes).toEqual([
    undefined,
    undefined,
    expect.objectContaining({ code: "unavailable" }),
    "deferred",
  ]);
  expect(getPosition(db, "import")).toBeUndefined();
  expect(readTotals(db)).toMatchObject({ fids: 1, on_chain_events: 2 });
  engine.spoolImport(
    { records: batch.records.slice(2), validated: unverifiedRecords(records.slice(2)) },
    positions,
    100,
  );
  expect(getPosition(db, "import")).toBe(7);
});
