import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type IndexDatabase,
  indexPath,
  openIndexReader,
  openIndexWriter,
} from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { CommitSequence } from "../../src/db/index/log/commit-sequence.ts";
import { createDeferredSync, type DeferredSync } from "../../src/db/index/log/deferred-sync.ts";
import { hasHubEventsAfter } from "../../src/db/index/log/hub-log.ts";
import { eventsAfter, hasEventsAfter } from "../../src/db/index/log/outbox.ts";
import { createIngestEngine, type IngestEngine } from "../../src/ingest/engine.ts";
import { createOwnHubLog, openLogs } from "../../src/ingest/hub-log/own-hub-log.ts";
import { decodeRecord, type EncodedRecord } from "../../src/ingest/record.ts";
import { IngestQueue } from "../../src/ingest/thread/queue.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { createHubReads, type HubReads } from "../../src/read/hub/hub-reads.ts";
import { Random } from "../model/random.ts";
import { ManualClock } from "../support/clock.ts";
import { DEFAULT_NOW_SECS, signedCast } from "../support/messages.ts";
import { accountRecords, accountSigner } from "../support/node.ts";
import { expectOk } from "../support/result.ts";
import { openStateFile } from "../support/state-file.ts";
import { localStores } from "../support/state-stores.ts";
import { sqliteError } from "../support/storage-faults.ts";

/**
 * A power failure is simulated with what was on disk: the database file, and the log as it was when the last sync that has
 * ended began. No checkpoint runs, so both are of one moment.
 */

const NETWORK = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
const FIDS = [1, 2, 3];

let dir: string;
let db: IndexDatabase;
let reader: IndexDatabase;
let reads: HubReads;
let engine: IngestEngine;
let queue: IngestQueue;
let deferred: DeferredSync;
let state: ReturnType<typeof openStateFile>;
let stopLogs: () => void;
let onDisk: Buffer;
let running: { readonly log: Buffer; readonly done: (cause: Error | null) => void } | undefined;
let faults: Error[];

const logFile = () => `${indexPath(dir)}-wal`;
const recordOf = (record: EncodedRecord) => expectOk(decodeRecord(record));
/** Lets promises and the queue's turns of the event loop run. */
const settle = async () => {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
};

function endSync(): void {
  const ended = running;
  running = undefined;
  onDisk = ended?.log ?? onDisk;
  ended?.done(null);
}

/** Opens the index as it would be after a power failure. */
function afterPowerFailure<T>(look: (index: IndexDatabase) => T): T {
  const copy = mkdtempSync(join(tmpdir(), "deferred-sync-copy-"));
  cpSync(indexPath(dir), indexPath(copy));
  writeFileSync(`${indexPath(copy)}-wal`, onDisk);
  try {
    using index = openIndexWriter(indexPath(copy));
    return look(index);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

const castsOf = (index: IndexDatabase) =>
  new Set(
    index.sqlite
      .query<{ text: string }, []>("SELECT text FROM casts")
      .all()
      .map(({ text }) => text),
  );
const hubEventsOf = (index: IndexDatabase) =>
  new Map(
    index.sqlite
      .query<{ id: number; fid: number; type: number }, []>("SELECT id, fid, type FROM hub_events")
      .all()
      .map((event) => [event.id, event]),
  );

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "deferred-sync-test-"));
  state = openStateFile();
  db = openIndexWriter(indexPath(dir));
  claimNetwork(db, "mainnet");
  const clock = new ManualClock(DEFAULT_NOW_SECS);
  const onFault = (cause: unknown) => {
    throw cause;
  };
  const logs = await openLogs({
    db,
    nodeId: "node",
    store: localStores(state.db, { clock }).nodeLogs,
    clock,
    isLogging: true,
    isNumbering: true,
    onFault,
  });
  stopLogs = () => logs.stop();
  engine = createIngestEngine({
    db,
    network: NETWORK,
    clock,
    onFault,
    hubLog: createOwnHubLog({ db, logs }),
  });
  engine.apply(FIDS.flatMap((fid) => accountRecords(fid)).map(recordOf));
  db.commits = new CommitSequence();
  running = undefined;
  faults = [];
  deferred = createDeferredSync({
    db,
    onFault: (cause) => faults.push(cause),
    sync(_, done) {
      expect(running).toBeUndefined();
      running = { log: readFileSync(logFile()), done };
    },
  });
  onDisk = readFileSync(logFile());
  queue = new IngestQueue(engine, deferred);
  reader = openIndexReader(indexPath(dir));
  reader.commits = new CommitSequence(db.commits.shared);
  reads = createHubReads({ db: reader, network: NETWORK, clock });
});

afterEach(() => {
  stopLogs();
  reader[Symbol.dispose]();
  deferred[Symbol.dispose]();
  db[Symbol.dispose]();
  state[Symbol.dispose]();
  rmSync(dir, { recursive: true, force: true });
});

const cast = (fid: number, text: string): EncodedRecord => ({
  kind: "message",
  bytes: signedCast(fid, text, accountSigner(fid)),
});

/** Submits casts. Their texts are in the list from their acknowledgement on. */
function submit(acknowledged: string[], ...texts: string[]): void {
  const records = texts.map((text, at) => recordOf(cast(FIDS[at % FIDS.length] ?? 1, text)));
  void queue.submit(records).then((outcomes) => {
    expect(outcomes.filter((outcome) => outcome !== undefined)).toEqual([]);
    acknowledged.push(...texts);
  });
}

/** All ids of hub events that a client can learn. */
async function hubIdsSeen(): Promise<number[]> {
  const start = expectOk(reads.startEvents({ fromId: 0, shardIndex: 0, isStrict: false }));
  const format = { show: ({ id }: { id: number }) => id, bytesOf: () => 8 };
  const pages = [
    expectOk(await reads.events(start, {}, format)),
    expectOk(await reads.events(start, { reverse: true }, format)),
  ];
  const stored = reader.sqlite.query<{ id: number }, []>("SELECT id FROM hub_events").all();
  return [
    ...pages.flatMap(({ items }) => items),
    ...reads.eventsAfterSeq(0, 1000).map(({ id }) => id),
    ...[...start.ranges.values()].map(({ headId }) => headId),
    ...stored.filter(({ id }) => reads.event({ id, shardIndex: 0 }).ok).map(({ id }) => id),
  ];
}

describe("a power failure", () => {
  test("takes back nothing that was acknowledged, and no event that a reader has seen", async () => {
    const random = new Random(7);
    const acknowledged: string[] = [];
    let submitted = 0;
    let lagged = 0;
    for (let step = 0; step < 30; step++) {
      const action = random.below(10);
      if (action < 5) {
        submit(acknowledged, ...Array.from({ length: 1 + random.below(3) }, () => `cast ${submitted++}`));
      } else if (action === 5) {
        engine.heartbeat();
        // SQLite has synced the log for this commit.
        if (!running) onDisk = readFileSync(logFile());
      } else endSync();
      await settle();
      const seen = eventsAfter(reader, 0, 1000);
      const hubIds = await hubIdsSeen();
      expect(hasEventsAfter(db, seen.at(-1)?.seq ?? 0)).toBe(false);
      expect(hasHubEventsAfter(db, reads.lastEventSeq())).toBe(false);
      if (castsOf(db).size > acknowledged.length) lagged += 1;
      afterPowerFailure((index) => {
        const casts = castsOf(index);
        expect(acknowledged.filter((text) => !casts.has(text))).toEqual([]);
        expect(eventsAfter(index, 0, 1000).slice(0, seen.length)).toEqual(seen);
        const events = hubEventsOf(index);
        expect(hubIds.filter((id) => !events.has(id))).toEqual([]);
      });
    }
    expect(lagged).toBeGreaterThan(5);
    while (running) {
      endSync();
      await settle();
    }
    expect(acknowledged).toHaveLength(submitted);
    expect(eventsAfter(reader, 0, 1000)).toHaveLength(submitted);
    expect(new Set(await hubIdsSeen())).toEqual(new Set(hubEventsOf(db).keys()));
  });

  test("takes back no message for which a duplicate was reported", async () => {
    const acknowledged: string[] = [];
    submit(acknowledged, "once");
    await settle();
    const [outcome] = [queue.submit([recordOf(cast(1, "once"))])];
    let isAnswered = false;
    void outcome.then(() => {
      isAnswered = true;
    });
    await settle();
    expect([acknowledged, isAnswered]).toEqual([[], false]);
    endSync();
    await settle();
    expect(acknowledged).toEqual(["once"]);
    endSync();
    await settle();
    expect(isAnswered).toBe(true);
  });
});

test("a sync that fails acknowledges nothing and ends at no event", async () => {
  const acknowledged: string[] = [];
  const before = reader.commits?.durableEnds;
  submit(acknowledged, "lost");
  await settle();
  running?.done(new Error("EIO"));
  await settle();
  submit(acknowledged, "later");
  await settle();
  expect(faults.map(({ message }) => message)).toEqual(["EIO"]);
  expect(acknowledged).toEqual([]);
  expect(reader.commits?.durableEnds).toEqual(before);
});

test("a commit whose end cannot be read is good; its events are given away with the next one", async () => {
  const ended = (texts: string[]) =>
    expect(eventsAfter(reader, 0, 10).map(({ seq }) => seq)).toHaveLength(texts.length);
  const acknowledged: string[] = [];
  db.beforeStatement = (name) => {
    if (name === "outbox.newest") throw sqliteError("io");
  };
  submit(acknowledged, "one");
  await settle();
  endSync();
  await settle();
  expect(acknowledged).toEqual(["one"]);
  ended([]);
  db.beforeStatement = undefined;
  submit(acknowledged, "two");
  await settle();
  endSync();
  await settle();
  expect(acknowledged).toEqual(["one", "two"]);
  ended(acknowledged);
});

test("other commits than those of the queue are synced by SQLite, whatever the queue's work throws", () => {
  const level = () => db.sqlite.query<{ synchronous: number }, []>("PRAGMA synchronous").get()?.synchronous;
  const [normal, full] = [1, 2];
  expect(level()).toBe(full);
  expect(() =>
    deferred.during(() => {
      expect(level()).toBe(normal);
      throw new Error("refused");
    }),
  ).toThrow("refused");
  expect(level()).toBe(full);
  engine.heartbeat();
  expect(running).toBeUndefined();
  expect(hasHubEventsAfter(db, reads.lastEventSeq())).toBe(false);
});

test("a start moves the log of a process that was killed into the database", async () => {
  submit([], "before the kill");
  await settle();
  endSync();
  await settle();
  deferred[Symbol.dispose]();
  const casts = () => {
    onDisk = Buffer.alloc(0);
    return afterPowerFailure(castsOf);
  };
  expect(casts()).toEqual(new Set());
  deferred = createDeferredSync({ db, onFault: (cause) => faults.push(cause) });
  expect(casts()).toEqual(new Set(["before the kill"]));
});

test("a sync that ends while a reader looks hides no event between two that it sees", async () => {
  submit([], "one", "two", "three");
  await settle();
  const ends = db.commits?.durableEnds;
  const moved = { outboxSeq: Number.MAX_SAFE_INTEGER, hubSeq: Number.MAX_SAFE_INTEGER };
  let looks = 0;
  Object.defineProperty(reader.commits, "durableEnds", { get: () => (looks++ === 0 ? ends : moved) });
  expect(eventsAfter(reader, ends?.outboxSeq ?? 0, 1000)).toEqual([]);
  looks = 0;
  expect(reads.eventsAfterSeq(ends?.hubSeq ?? 0, 1000)).toEqual([]);
});

test("events of a transaction whose rollback failed are not an end", () => {
  const before = db.commits?.durableEnds;
  db.beforeStatement = (name) => {
    if (name === "COMMIT" || name === "ROLLBACK") throw sqliteError("io");
  };
  expect(() => engine.heartbeat()).toThrow();
  expect(db.sqlite.inTransaction).toBe(true);
  expect(db.commits?.durableEnds).toEqual(before);
  db.beforeStatement = undefined;
  engine.heartbeat();
  expect(hasHubEventsAfter(db, reads.lastEventSeq())).toBe(false);
});
