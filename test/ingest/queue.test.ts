import { afterEach, beforeEach, expect, test } from "bun:test";
import { type IndexDatabase, openIndexInMemory } from "../../src/db/index/database.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import { decodeRecord } from "../../src/ingest/record.ts";
import { IngestQueue } from "../../src/ingest/thread/queue.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { ManualClock } from "../support/clock.ts";
import { DEFAULT_NOW_SECS } from "../support/messages.ts";
import { accountRecords } from "../support/node.ts";
import { cast } from "../support/records.ts";
import { expectOk } from "../support/result.ts";

let db: IndexDatabase;
let queue: IngestQueue;
beforeEach(() => {
  db = openIndexInMemory();
  const engine = createIngestEngine({
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock: new ManualClock(DEFAULT_NOW_SECS),
    onFault: (cause) => {
      throw cause;
    },
  });
  queue = new IngestQueue(engine);
});
afterEach(() => db[Symbol.dispose]());

const account = accountRecords(1).map((record) => expectOk(decodeRecord(record)));
const casts = (count: number) => Array(count).fill(expectOk(decodeRecord(cast(1, "a"))));
const turn = () => new Promise((resolve) => setImmediate(resolve));

test("what is submitted within one turn shares a commit, and each caller gets the outcomes of its own", async () => {
  const outcomes = Promise.all([queue.submit(account), queue.submit(casts(1)), queue.submit(casts(2))]);
  expect(queue.stats()).toMatchObject({ queuedRecords: account.length + 3, commits: 0 });
  const codes = (await outcomes).map((own) => own.map((outcome) => outcome?.code ?? "ok"));
  expect(codes).toEqual([
    account.map(() => "ok"),
    ["ok"],
    ["bad_request.duplicate", "bad_request.duplicate"],
  ]);
  await turn();
  expect(queue.stats()).toEqual({
    queuedRecords: 0,
    commits: 1,
    mergedRecords: account.length + 1,
    refusedRecords: { "bad_request.duplicate": 2 },
  });
});

test("a commit has at most 2,000 records; a larger submission has one of its own", async () => {
  const commitsOf = async (...counts: number[]) => {
    const before = queue.stats().commits;
    for (const count of counts) void queue.submit(casts(count));
    await queue.drain();
    return queue.stats().commits - before;
  };
  expect(await commitsOf(1000, 1000)).toBe(1);
  expect(await commitsOf(1000, 999, 2)).toBe(2);
  expect(await commitsOf(2500)).toBe(1);
  expect(await commitsOf(1, 2500, 1)).toBe(3);
  // Nothing waits, so a node that ends does not either.
  expect(await commitsOf()).toBe(0);
});
