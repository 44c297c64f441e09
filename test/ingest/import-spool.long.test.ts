import { describe, expect, test } from "bun:test";
import { type IndexDatabase, openIndexInMemory } from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { seededRandom } from "../../src/demo/random.ts";
import { createIngestEngine, type IngestEngine } from "../../src/ingest/engine.ts";
import { decodeRecord, type EncodedRecord } from "../../src/ingest/record.ts";
import { encodeMessage } from "../../src/protocol/message/signed-message.ts";
import { FarcasterNetwork, UserDataType } from "../../src/protocol/wire/generated/message.ts";
import { ManualClock } from "../support/clock.ts";
import { dumpIndex } from "../support/dump.ts";
import { fnameProof, registerEvent, rentEvent, signerEvent } from "../support/events.ts";
import { gaslessKeyMessage, gaslessKeyRemoval } from "../support/gasless-keys.ts";
import { contentDifferences, indexContent } from "../support/index-content.ts";
import { IS_LONG } from "../support/long.ts";
import {
  DEFAULT_NOW_SECS,
  DEFAULT_TIMESTAMP,
  makeSigner,
  makeWallet,
  signedCast,
} from "../support/messages.ts";
import { accountRecords, accountSigner, eventRecord, proofRecord } from "../support/node.ts";
import {
  bio,
  cast,
  compact,
  ensProof,
  link,
  uncast,
  unlink,
  unverify,
  userData,
  verify,
} from "../support/records.ts";
import { unverifiedRecords } from "../support/unverified-records.ts";
import { wildMessages } from "../support/wild-network.ts";

/** Half of the messages are older than what events are written for. */
const SPREAD = 5 * 86_400;

function target(): { db: IndexDatabase; engine: IngestEngine } {
  const db = openIndexInMemory();
  claimNetwork(db, "mainnet");
  const clock = new ManualClock(DEFAULT_NOW_SECS + SPREAD);
  const engine = createIngestEngine({
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock,
    onFault: (cause) => {
      throw cause;
    },
  });
  return { db, engine };
}

const decoded = (records: readonly EncodedRecord[]) =>
  records.map((record) => {
    const result = decodeRecord(record);
    if (!result.ok) throw new Error(result.error.reason);
    return result.value;
  });

function rowByRow(records: readonly EncodedRecord[]) {
  const { db, engine } = target();
  const outcomes = engine.applyResumable(decoded(records), [], { isHistory: true });
  return { db, outcomes: outcomes.map((one) => one?.code ?? "ok") };
}

function inBulk(records: readonly EncodedRecord[], random: () => number) {
  let { db, engine } = target();
  const outcomes: string[] = new Array(records.length);
  let deferred = 0;
  const restart = () => {
    if (random() < 0.2)
      engine = createIngestEngine({
        db,
        network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
        clock: new ManualClock(DEFAULT_NOW_SECS + SPREAD),
        onFault: (cause) => {
          throw cause;
        },
      });
  };
  for (let from = 0; from < records.length; from += 7) {
    restart();
    const some = records.slice(from, from + 7);
    const batch = {
      records: some.map((record, at) => ({ record, offset: from + at })),
      validated: unverifiedRecords(some),
    };
    for (const [at, outcome] of engine.spoolImport(batch, [], 100).entries()) {
      if (outcome === "deferred") deferred++;
      else outcomes[from + at] = outcome?.code ?? "ok";
    }
  }
  while (engine.buildStep()) restart();
  for (let page = engine.applyDeferred(); page; page = engine.applyDeferred()) {
    for (const { offset, outcome } of page) outcomes[offset] = outcome?.code ?? "ok";
    restart();
  }
  return { db, outcomes, deferred };
}

function wildRecords(seed: string, count: number): EncodedRecord[] {
  const random = seededRandom(`order ${seed}`);
  const events: EncodedRecord[] = [];
  for (let fid = 1; fid <= 6; fid++) {
    const custody = makeWallet(`custody ${fid}`).address;
    events.push(eventRecord(registerEvent(fid, custody, { block: 1000 + fid })));
    for (const n of [0, 1, 2]) {
      const key = makeSigner(`wild ${n}`).publicKey;
      events.push(eventRecord(signerEvent(fid, key, { block: 200_000 + n })));
      if (random.chance(0.3))
        events.push(eventRecord(signerEvent(fid, key, { block: 300_000 + n, log: 1 }, "remove")));
    }
    if (random.chance(0.8)) events.push(eventRecord(rentEvent(fid, 1, { block: 400_000 + fid })));
    if (random.chance(0.5)) events.push(eventRecord(rentEvent(fid, 3, { block: 500_000 + fid })));
    for (let n = 0; n < 3; n++)
      events.push(
        proofRecord(fnameProof(`name${n}`, fid, custody, DEFAULT_NOW_SECS - 50_000 - random.below(9))),
      );
  }
  const messages: EncodedRecord[] = wildMessages(seed, count).map((message) => ({
    kind: "message",
    bytes: encodeMessage(message),
  }));
  const repeated = messages.filter(() => random.chance(0.05));
  const all = [...messages, ...repeated];
  // Mostly in front, some anywhere.
  const early = random.chance(0.5) ? 0.9 : 0.2;
  const records = events.filter(() => random.chance(early));
  const late = events.filter((one) => !records.includes(one));
  for (const one of [...all, ...late])
    records.splice(random.chance(0.7) ? records.length : random.below(records.length + 1), 0, one);
  return records;
}

/** One fid with a unit of 100 casts and 200 links, and about half as many messages again, in any order. */
function fullStores(seed: string): EncodedRecord[] {
  const random = seededRandom(`full ${seed}`);
  const at = () => DEFAULT_TIMESTAMP + random.below(100_000);
  const casts = Array.from({ length: 150 }, (_, n) => cast(1, `cast ${n}`, at()));
  const messages = [
    ...casts,
    ...casts.filter(() => random.chance(0.2)).map((one) => uncast(1, one, at())),
    ...Array.from({ length: 260 }, () => link(1, "follow", 1 + random.below(300), at())),
    ...Array.from({ length: 60 }, () => unlink(1, "follow", 1 + random.below(300), at())),
    ...(random.chance(0.5)
      ? [
          compact(
            1,
            "follow",
            Array.from({ length: 80 }, (_, n) => 1 + n * 3),
            at(),
          ),
        ]
      : []),
    ...[verify(1, at()), unverify(1, at()), verify(1, at()), bio(1, "a", at()), bio(1, "b", at())],
    ...["a.eth", "b.eth", "c.eth", "d.eth"].map((name) => ensProof(1, name, at())),
  ];
  const rent = (n: number) => eventRecord(rentEvent(1, 1, { block: 500_000 + n, at: RENTED_AT }));
  const records = [
    eventRecord(registerEvent(1, makeWallet("custody 1").address, { block: 1001 })),
    eventRecord(signerEvent(1, accountSigner(1).publicKey, { block: 200_000 })),
    rent(1),
  ];
  for (const one of messages) records.splice(3 + random.below(records.length - 2), 0, one);
  if (random.chance(0.5)) records.splice(random.below(records.length), 0, rent(2));
  return records;
}

/** Accounts with gasless keys, which are added and removed between messages that they sign. */
function keyRecords(seed: string): EncodedRecord[] {
  const random = seededRandom(`keys ${seed}`);
  const at = () => DEFAULT_TIMESTAMP - random.below(10_000);
  const message = (bytes: Uint8Array): EncodedRecord => ({ kind: "message", bytes });
  const keys = [0, 1].map((n) => makeSigner(`gasless ${n}`));
  const records = [1, 2, 9].flatMap((fid) => accountRecords(fid));
  for (let n = 0; n < 60; n++) {
    const fid = 1 + random.below(2);
    const signer = random.pick(keys);
    const nonce = 1 + random.below(20);
    const wallet = makeWallet(`custody ${fid}`);
    records.push(
      random.pick([
        () => cast(fid, `of the account ${n}`, at()),
        () => message(signedCast(fid, `of a key ${n}`, signer, { timestamp: at() })),
        () => bio(fid, `${n}`, at()),
        () => message(gaslessKeyMessage({ fid, signer, requestFid: 9, ttlSecs: 3600, nonce, at: at() })),
        () => message(gaslessKeyRemoval({ fid, signer, nonce, by: wallet, at: at() })),
      ])(),
    );
  }
  return records;
}

/** From the time of 2025 units. */
const RENTED_AT = 1_755_000_000;

describe("an import with the bulk build", () => {
  test(
    "ends as one row by row, with the same outcomes",
    () => {
      const seen = new Map<string, number>();
      let all = 0;
      let waited = 0;
      for (let run = 0; run < (IS_LONG ? 300 : 30); run++) {
        const seed = `import ${run}`;
        const random = seededRandom(`restart ${seed}`);
        const kind = run % 6;
        const records =
          kind === 0
            ? fullStores(seed)
            : kind === 1
              ? keyRecords(seed)
              : wildRecords(seed, 60 + random.below(300));
        const expected = rowByRow(records);
        const bulk = inBulk(records, () => random.below(1000) / 1000);
        for (const code of expected.outcomes) seen.set(code, (seen.get(code) ?? 0) + 1);
        all += records.length;
        waited += bulk.deferred;
        expect([seed, bulk.outcomes]).toEqual([seed, expected.outcomes]);
        expect(dumpIndex(bulk.db)).toBe(dumpIndex(expected.db));
        expect(contentDifferences(indexContent(expected.db), indexContent(bulk.db))).toEqual([]);
        expected.db[Symbol.dispose]();
        bulk.db[Symbol.dispose]();
      }
      for (const code of [
        "ok",
        ...["duplicate", "conflict", "prunable", "validation_failure"].map((name) => `bad_request.${name}`),
      ])
        expect(seen.get(code)).toBeGreaterThan(20);
      expect(waited).toBeLessThan(all * 0.7);
    },
    IS_LONG ? 600_000 : 120_000,
  );

  test("spools user data at once, but what depends on names and a second value of one field", () => {
    const username = userData(1, UserDataType.USER_DATA_TYPE_USERNAME, "", DEFAULT_TIMESTAMP);
    const records = [
      ...accountRecords(1),
      username,
      bio(1, "first", DEFAULT_TIMESTAMP),
      userData(1, UserDataType.USER_DATA_TYPE_URL, "https://a.example", DEFAULT_TIMESTAMP),
      bio(1, "second", DEFAULT_TIMESTAMP + 1),
    ];
    const { db, engine } = target();
    const outcomes = engine.spoolImport(
      {
        records: records.map((record, offset) => ({ record, offset })),
        validated: unverifiedRecords(records),
      },
      [],
      100,
    );
    expect(outcomes.slice(-4)).toEqual(["deferred", undefined, undefined, "deferred"]);
    db[Symbol.dispose]();
  });
});
