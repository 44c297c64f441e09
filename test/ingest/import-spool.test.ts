import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type IndexDatabase, openIndexInMemory } from "../../src/db/index/database.ts";
import { areDeferred, defer, deferredAfter } from "../../src/ingest/bulk/deferred-records.ts";
import { createIngestEngine, type IngestEngine } from "../../src/ingest/engine.ts";
import type { EncodedRecord } from "../../src/ingest/record.ts";
import { rejection } from "../../src/protocol/rejection.ts";
import {
  CastType,
  FarcasterNetwork,
  MessageType,
  UserDataType,
} from "../../src/protocol/wire/generated/message.ts";
import { pins } from "../support/channel-records.ts";
import { ManualClock } from "../support/clock.ts";
import { proEvent, rentEvent, signerEvent } from "../support/events.ts";
import { gaslessKeyMessage } from "../support/gasless-keys.ts";
import { liveHashes } from "../support/live-messages.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP, makeSigner } from "../support/messages.ts";
import { accountRecords, accountSigner, eventRecord } from "../support/node.ts";
import {
  bio,
  cast,
  compact,
  fname,
  link,
  signed,
  uncast,
  unlink,
  userData,
  verify,
} from "../support/records.ts";
import { hashOf } from "../support/social.ts";
import { unverifiedRecords } from "../support/unverified-records.ts";

let db: IndexDatabase;
beforeEach(() => {
  db = openIndexInMemory();
});
afterEach(() => db[Symbol.dispose]());

/** Later than what events are written for. */
const NOW_SECS = DEFAULT_NOW_SECS + 86_400;

const engineAt = (nowSecs = NOW_SECS): IngestEngine =>
  createIngestEngine({
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock: new ManualClock(nowSecs),
    onFault: (cause) => {
      throw cause;
    },
  });

let offset = 0;
/** Returns for each record whether it is in the index or its spool, waits, or why it was refused. */
function take(engine: IngestEngine, ...records: readonly EncodedRecord[]): string[] {
  const batch = {
    records: records.map((record) => ({ record, offset: offset++ })),
    validated: unverifiedRecords(records),
  };
  return engine
    .spoolImport(batch, [], 100)
    .map((outcome) => (typeof outcome === "object" ? outcome.code : (outcome ?? "stored")));
}

const lend = signed(1, {
  type: MessageType.MESSAGE_TYPE_LEND_STORAGE,
  body: { $case: "lendStorageBody", value: { toFid: 2, numUnits: 1, unitType: 2 } },
});
const accounts = [1, 2].flatMap((fid) => accountRecords(fid));
const [STORED, WAITS, REFUSED] = ["stored", "deferred", "bad_request.validation_failure"] as const;
const keyAdd = gaslessKeyMessage({
  ...{ fid: 1, signer: makeSigner("first"), requestFid: 2, ttlSecs: 3600, nonce: 1 },
});

const longCast = (fid: number) =>
  signed(fid, {
    type: MessageType.MESSAGE_TYPE_CAST_ADD,
    body: {
      $case: "castAddBody",
      value: { text: "a".repeat(3000), type: CastType.CAST_TYPE_TEN_K_CAST },
    },
  });

const CASES: readonly (readonly [
  name: string,
  ...records: readonly (readonly [EncodedRecord, string | undefined])[],
])[] = [
  [
    "messages wait for one of their store that waits, and for a lend of their fid; others do not",
    [cast(1, "a"), STORED],
    [cast(1, "a"), WAITS],
    [cast(1, "after one that waits"), WAITS],
    [link(1, "follow", 2), STORED],
    [cast(2, "b"), STORED],
    [lend, WAITS],
    [link(1, "follow", 3), WAITS],
    [link(2, "follow", 1), STORED],
  ],
  [
    "a removal in a slot that is free is stored; one of a stored message waits",
    [uncast(1, cast(1, "never")), STORED],
    [link(1, "follow", 2), STORED],
    [unlink(1, "follow", 2), WAITS],
  ],
  [
    "a compact state and a verification wait, and the stores that they change with them",
    [compact(1, "follow", [2]), WAITS],
    [link(1, "follow", 2), WAITS],
    [verify(2), WAITS],
    [cast(2, "b"), STORED],
  ],
  [
    "user data waits for that of its slot only",
    [bio(1, "a"), STORED],
    [bio(1, "b"), WAITS],
    [userData(1, UserDataType.USER_DATA_TYPE_URL, "a"), STORED],
    [userData(1, UserDataType.USER_DATA_TYPE_USERNAME, "user1"), WAITS],
    [userData(1, UserDataType.USER_DATA_TYPE_DISPLAY, "a"), STORED],
  ],
  [
    "a rent waits for messages of its fid that wait, other events and names do not",
    [cast(1, "a"), STORED],
    [eventRecord(rentEvent(1, 1, { block: 800_000 })), STORED],
    [cast(1, "a"), WAITS],
    [eventRecord(rentEvent(1, 1, { block: 800_001 })), WAITS],
    [eventRecord(rentEvent(2, 1, { block: 800_002 })), STORED],
    [eventRecord(signerEvent(1, accountSigner(7).publicKey, { block: 800_003 })), STORED],
    [fname(1, "other"), WAITS],
  ],
  [
    "a message of a channel waits, and the rents of its fid with it, but none of its stores",
    [pins(1, "books", new Uint8Array(20)), WAITS],
    [cast(1, "a"), STORED],
    [eventRecord(rentEvent(1, 1, { block: 800_001 })), WAITS],
    [eventRecord(rentEvent(2, 1, { block: 800_002 })), STORED],
  ],
  [
    "everything waits from the first gasless key on",
    [cast(1, "a"), STORED],
    [{ kind: "message", bytes: keyAdd }, WAITS],
    [cast(2, "b"), WAITS],
    [cast(3, "the key may be one of an fid that is admitted then"), WAITS],
    [eventRecord(rentEvent(2, 1, { block: 800_000 })), WAITS],
    [eventRecord(signerEvent(2, accountSigner(7).publicKey, { block: 800_001 })), WAITS],
  ],
  [
    "a message of an author who may not write is refused, whether or not it could be spooled",
    [cast(3, "nobody"), REFUSED],
    [verify(3), REFUSED],
    [cast(1, "a"), STORED],
  ],
];

test.each(CASES)("%s", (_name, ...records) => {
  const engine = engineAt();
  expect(engine.hasSpoolEnded).toBe(false);
  take(engine, ...accounts);
  const outcomes = take(engine, ...records.map(([record]) => record));
  expect(outcomes).toEqual(records.map(([, outcome]) => `${outcome}`));
  expect(engine.hasSpoolEnded).toBe(records.some(([{ bytes }]) => bytes === keyAdd));
});

test.each(CASES)("the same when the import is resumed before each record: %s", (_name, ...records) => {
  take(engineAt(), ...accounts);
  for (const [record, outcome] of records) expect(take(engineAt(), record)).toEqual([`${outcome}`]);
});

test("an import is resumed with all records that wait, more than are read at once", () => {
  take(engineAt(), ...accounts);
  const [many, last] = [cast(2, "many"), cast(1, "last")];
  db.transaction(() => {
    for (let number = 1; number <= 1000; number++)
      defer(db, { number: 10 + number, offset: number, record: many, isAdmitted: true });
    defer(db, { number: 2000, offset: 2000, record: last, isAdmitted: true });
  });
  expect(take(engineAt(), cast(1, "of a store that waits"), link(1, "follow", 2))).toEqual([
    "deferred",
    "stored",
  ]);
  expect(deferredAfter(db, 2000, 10).map(({ number }) => number)).toEqual([2001]);
});

test("casts wait from the first one above the limit on", () => {
  const engine = engineAt();
  take(engine, ...accounts);
  const casts = Array.from({ length: 102 }, (_, n) => cast(1, `${n}`, DEFAULT_TIMESTAMP - 200 + n));
  expect(take(engine, ...casts)).toEqual(casts.map((_, n) => (n < 100 ? "stored" : "deferred")));
});

test("a message that is still an event waits, so that its event is written", () => {
  const nowSecs = DEFAULT_NOW_SECS + 100;
  const engine = engineAt(nowSecs);
  take(engine, ...accounts);
  const [before, after] = [901, 900].map((age) => cast(1, `${age}`, DEFAULT_TIMESTAMP + 100 - age));
  if (!before || !after) throw new Error("two casts");
  expect(take(engine, before, after)).toEqual(["stored", "deferred"]);
});

test("user data waits for that of its slot that waits for its event", () => {
  const engine = engineAt(DEFAULT_NOW_SECS + 100);
  take(engine, ...accounts);
  const [late, early] = [bio(1, "late", DEFAULT_TIMESTAMP), bio(1, "early", DEFAULT_TIMESTAMP - 5000)];
  expect(take(engine, late, early)).toEqual(["deferred", "deferred"]);
});

describe("the index that is built", () => {
  test("has a message that waited while its key was removed, because the key was active ahead of it", () => {
    const engine = engineAt();
    take(engine, ...accounts);
    const removal = eventRecord(
      signerEvent(1, accountSigner(1).publicKey, { block: 800_004, log: 1 }, "remove"),
    );
    const waits = bio(1, "b", DEFAULT_TIMESTAMP + 1);
    expect(take(engine, bio(1, "a"), waits, removal)).toEqual([STORED, WAITS, STORED]);
    while (engine.buildStep());
    while (engine.applyDeferred());
    expect(liveHashes(db)).toEqual([hashOf(waits.bytes).slice(2)]);
  });

  test("has what was spooled, and then what waited and wins", () => {
    const engine = engineAt();
    take(engine, ...accounts);
    const [kept, removed, late] = [cast(1, "kept"), cast(1, "removed"), cast(1, "late")];
    const removal = uncast(1, removed, DEFAULT_TIMESTAMP + 1);
    const of2 = cast(2, "of another");
    const first = offset;
    expect(take(engine, kept, removed, of2, removal, late)).toEqual([
      ...["stored", "stored", "stored", "deferred", "deferred"],
    ]);
    while (engine.buildStep());
    const hashes = (...records: readonly EncodedRecord[]) =>
      records.map(({ bytes }) => hashOf(bytes).slice(2)).sort();
    expect(liveHashes(db).sort()).toEqual(hashes(kept, removed, of2));
    const outcomes = [];
    expect(areDeferred(db)).toBe(true);
    for (let page = engine.applyDeferred(); page; page = engine.applyDeferred()) outcomes.push(...page);
    // The names of the accounts waited, too.
    expect(outcomes.slice(2)).toEqual(
      [first + 3, first + 4].map((offset) => ({ offset, kind: "message", outcome: undefined })),
    );
    expect(outcomes.map(({ kind }) => kind)).toEqual([
      "usernameProof",
      "usernameProof",
      "message",
      "message",
    ]);
    expect(liveHashes(db).sort()).toEqual(hashes(kept, of2, removal, late));
    expect(areDeferred(db)).toBe(false);
  });

  test("has what waited for a gasless key if it was admitted when it was sent", () => {
    const engine = engineAt();
    take(engine, ...accounts, eventRecord(proEvent(1, 1, { block: 900_000, at: DEFAULT_NOW_SECS - 1000 })));
    take(engine, { kind: "message", bytes: keyAdd }, longCast(1), longCast(2));
    while (engine.buildStep());
    // Nothing is spooled any more.
    expect(engine.hasSpoolEnded).toBe(false);
    const outcomes = [];
    for (let page = engine.applyDeferred(); page; page = engine.applyDeferred()) outcomes.push(...page);
    expect(outcomes.slice(-2).map(({ outcome }) => outcome?.code)).toEqual([undefined, REFUSED]);
  });

  test("has no record that its validation refused", () => {
    const engine = engineAt();
    take(engine, ...accounts);
    const records = [cast(1, "a"), cast(1, "refused"), cast(1, "b")];
    const refusal = rejection("bad_request.validation_failure", "of no valid form");
    const validated = { ...unverifiedRecords(records), refusals: new Map([[1, refusal]]) };
    const batch = { records: records.map((record, at) => ({ record, offset: at })), validated };
    expect(engine.spoolImport(batch, [], 100)).toEqual([undefined, refusal, undefined]);
    while (engine.buildStep());
    expect(liveHashes(db)).toHaveLength(2);
  });
});

test("a cast that needs Pro is spooled of a user who has it, and refused of another", () => {
  const engine = engineAt();
  const pro = eventRecord(proEvent(2, 3650, { block: 900_000 }));
  take(engine, ...accounts, pro);
  expect(take(engine, cast(1, "a"), cast(2, "b"), longCast(1), longCast(2))).toEqual([
    ...["stored", "stored", "bad_request.validation_failure", "stored"],
  ]);
  // Pro when it was sent is enough.
  take(engine, eventRecord(proEvent(1, 1, { block: 900_001, at: DEFAULT_NOW_SECS - 1000 })));
  expect(take(engine, longCast(1))).toEqual(["stored"]);
});
