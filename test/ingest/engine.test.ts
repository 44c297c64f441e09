import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { channelsActiveAt } from "../../src/db/index/channels/follows.ts";
import { StoreCounts } from "../../src/db/index/counts/store-counts.ts";
import { readTotals } from "../../src/db/index/counts/totals.ts";
import { type IndexDatabase, openIndexInMemory } from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { getPosition } from "../../src/db/index/positions.ts";
import { StorageError } from "../../src/db/sqlite/storage-error.ts";
import { createIngestEngine, type IngestEngineDeps } from "../../src/ingest/engine.ts";
import { decodeRecord } from "../../src/ingest/record.ts";
import { Store } from "../../src/protocol/message/merge-rules.ts";
import { CHANNELS_VERSION, engineSchedule } from "../../src/protocol/network/engine-versions.ts";
import { rejection } from "../../src/protocol/rejection.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { accountPrefix } from "../../src/trust/trie-key.ts";
import { ManualClock } from "../support/clock.ts";
import { liveHashes } from "../support/live-messages.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP } from "../support/messages.ts";
import { accountRecords } from "../support/node.ts";
import { bio, cast } from "../support/records.ts";
import { expectOk } from "../support/result.ts";
import { hashOf, reactionMessage } from "../support/social.ts";
import { sqliteError } from "../support/storage-faults.ts";
import { unverifiedRecords } from "../support/unverified-records.ts";

let db: IndexDatabase;
let faults: string[];
let signals: number;
beforeEach(() => {
  db = openIndexInMemory();
  claimNetwork(db, "mainnet");
  faults = [];
  signals = 0;
});
afterEach(() => db[Symbol.dispose]());

const engineOf = (deps: Partial<IngestEngineDeps> = {}) =>
  createIngestEngine({
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock: new ManualClock(DEFAULT_NOW_SECS),
    onFault: (cause) => faults.push(`${cause}`),
    onEvents: () => {
      signals += 1;
    },
    ...deps,
  });
const account = accountRecords(1).map((record) => expectOk(decodeRecord(record)));
const casts = ["a", "b", "c"].map((text) => expectOk(decodeRecord(cast(1, text))));
const codes = (outcomes: readonly ({ readonly code: string } | undefined)[]) =>
  outcomes.map((outcome) => outcome?.code ?? "ok");

const INDEX_FILE = { database: "index", file: "index.db" } as const;

/** The storing of casts fails at these turns, counted from 1. */
function failsAt(...turns: readonly number[]): void {
  let turn = 0;
  db.beforeStatement = (name) => {
    if (name === "project.casts.insert" && turns.includes(++turn)) throw new Error(`fault ${turn}`);
  };
}

/** The database cannot be written from the next cast on, after casts that cause this many faults. */
function isGoneAfter(faults: number): void {
  let turn = 0;
  db.beforeStatement = (name) => {
    if (name !== "project.casts.insert") return;
    if (++turn <= faults) throw new Error(`fault ${turn}`);
    throw new StorageError(INDEX_FILE, { fault: "deleted", message: "it is gone" });
  };
}

describe("a batch of resumable work", () => {
  const positions = [{ key: "file", position: 7 }];

  function resume(engine = engineOf()) {
    let ran = 0;
    const outcomes = codes(engine.applyResumable(casts, positions, { alongside: () => void ran++ }));
    return { outcomes, ran, position: getPosition(db, "file") };
  }

  test("is one commit with its positions", () => {
    const engine = engineOf();
    engine.apply(account);
    expect(resume(engine)).toEqual({ outcomes: ["ok", "ok", "ok"], ran: 1, position: 7 });
  });

  test("is stored record by record after a fault, with its positions if none of them causes it", () => {
    const engine = engineOf();
    engine.apply(account);
    failsAt(2);
    expect(resume(engine)).toEqual({ outcomes: ["ok", "ok", "ok"], ran: 1, position: 7 });
    expect([liveHashes(db).length, faults]).toEqual([3, []]);
  });

  test("leaves out the record at fault, and its positions", () => {
    const engine = engineOf();
    engine.apply(account);
    failsAt(2, 4);
    expect(resume(engine)).toEqual({ outcomes: ["ok", "unavailable", "ok"], ran: 0, position: undefined });
    expect([liveHashes(db).length, faults]).toEqual([2, ["Error: fault 4"]]);
  });

  test("fails as a whole when the database can no longer be written after a fault", () => {
    const engine = engineOf();
    engine.apply(account);
    isGoneAfter(1);
    expect(() => resume(engine)).toThrow(StorageError);
    expect([getPosition(db, "file"), faults]).toEqual([undefined, []]);
  });
});

test("a single record at fault is unavailable and reported once", () => {
  const engine = engineOf();
  engine.apply(account);
  failsAt(1, 2);
  expect([codes(engine.apply(casts.slice(0, 1))), faults]).toEqual([["unavailable"], ["Error: fault 1"]]);
});

test("a commit that fails through none of its records is reported, and its senders try again", () => {
  const engine = engineOf();
  engine.apply(account);
  const failsAtCommits = (...failing: readonly number[]) => {
    let commits = 0;
    db.beforeStatement = (name) => {
      if (name === "COMMIT" && failing.includes(++commits)) throw new Error("no commit");
    };
  };
  failsAtCommits(1);
  expect([codes(engine.apply([])), faults]).toEqual([[], ["Error: no commit"]]);
  // Each record then has its own commit; the one after them fails again.
  failsAtCommits(1, 5);
  expect(codes(engine.apply(casts))).toEqual(casts.map(() => "unavailable"));
  expect(faults.length).toBe(2);
  expect(codes(engine.apply(casts))).toEqual(casts.map(() => "bad_request.duplicate"));
});

test("nothing of a commit that was rolled back is remembered", () => {
  const engine = engineOf();
  const first = casts.slice(0, 1);
  db.beforeStatement = (name) => {
    if (name === "COMMIT") throw new StorageError(INDEX_FILE, { fault: "deleted", message: "it is gone" });
  };
  const records = [...account, ...first];
  expect(codes(engine.apply(records))).toEqual(records.map(() => "unavailable"));
  db.beforeStatement = undefined;
  // The key of the cast is as unknown as the fid.
  expect(codes(engine.apply(first))).toEqual(["bad_request.validation_failure"]);
  expect(codes(engine.apply(records))).toEqual(records.map(() => "ok"));
  expect([readTotals(db).messages, new StoreCounts(db).get(1, Store.Casts)]).toEqual([1, 1]);
});

test("a sender reads whether the record may be sent again at once, or the operator must see to the index", () => {
  const engine = engineOf();
  const reasonAfter = (fault: Error) => {
    db.beforeStatement = () => {
      throw fault;
    };
    return engine.apply(casts.slice(0, 1))[0]?.reason;
  };
  const damage = new StorageError(INDEX_FILE, { fault: "corrupt", message: "a page is damaged" });
  expect(reasonAfter(damage)).toContain("its index is damaged");
  expect(reasonAfter(sqliteError("busy"))).toContain("try again");
});

test("a node that takes no records refuses each, and stores none", () => {
  const refusal = rejection("unavailable", "this node follows another one");
  expect(engineOf({ refusal }).apply(account)).toEqual(account.map(() => refusal));
  expect(db.sqlite.query("SELECT * FROM fids").all()).toEqual([]);
});

test("a commit is signalled if it wrote events, and only then", () => {
  const engine = engineOf();
  const signalled = (...records: typeof account) => {
    const before = signals;
    engine.apply(records);
    return signals - before;
  };
  expect(signalled(...account)).toBe(0);
  const old = expectOk(decodeRecord(bio(1, "long ago", DEFAULT_TIMESTAMP - 5000)));
  expect([signalled(...casts), signalled(...casts), signalled(old)]).toEqual([1, 0, 0]);
});

describe("a relayed batch", () => {
  const position = { key: "upstream 1 applied", position: 3 };

  test("without operations whose progress cannot be stored fails", () => {
    const engine = engineOf();
    db.beforeStatement = (name) => {
      if (name.startsWith("positions.")) throw new Error("no position");
    };
    expect(() => engine.applyRelayed({ ops: [], positions: [position] })).toThrow("no position");
    expect(faults).toEqual([]);
  });

  test("that does not make an account equal to the network's changes nothing, which is no fault", () => {
    const engine = engineOf();
    const ops = [{ kind: "put", message: cast(1, "a").bytes, happenedAt: 0 }] as const;
    const healed = {
      shard: 1,
      account: accountPrefix(1),
      root: new Uint8Array(20),
      children: [],
      uncertain: [],
    };
    engine.applyRelayed({ ops, positions: [position], healed });
    expect([liveHashes(db), getPosition(db, position.key), faults]).toEqual([[], undefined, []]);
  });

  test("that heals an account is applied as a whole, or its fault is reported", () => {
    const engine = engineOf();
    const ops = [{ kind: "put", message: Uint8Array.of(255), happenedAt: 0 }] as const;
    const healed = {
      shard: 1,
      account: accountPrefix(1),
      root: new Uint8Array(),
      children: [],
      uncertain: [],
    };
    engine.applyRelayed({ ops, positions: [position], healed });
    expect([getPosition(db, position.key), faults.length]).toEqual([undefined, 1]);
    engine.applyRelayed({ ops: [], positions: [position], healed });
    expect([getPosition(db, position.key), faults.length]).toEqual([3, 1]);
  });
});

test.each([
  ["a relayed batch", undefined],
  ["one that heals an account", { shard: 1, account: accountPrefix(1), root: new Uint8Array() }],
])("%s fails when the database cannot be written, and its position does not move", (_, account) => {
  const engine = engineOf();
  const ops = ["a", "b"].map((text) => ({
    ...({ kind: "put", happenedAt: 0 } as const),
    message: cast(1, text).bytes,
  }));
  const position = { key: "upstream 1 applied", position: 3 };
  const healed = account && { ...account, children: [], uncertain: [] };
  // A fault of one operation alone would be skipped.
  isGoneAfter(healed ? 0 : 1);
  expect(() => engine.applyRelayed({ ops, positions: [position], ...(healed && { healed }) })).toThrow(
    StorageError,
  );
  expect([getPosition(db, position.key), faults]).toEqual([undefined, []]);
});

describe("the bound of the index", () => {
  const phasesOf = (work: (engine: ReturnType<typeof engineOf>) => void) => {
    const phases: string[] = [];
    const size = () => ({ bytes: 0, maxBytes: 1, isFull: false });
    const bound = { isFull: () => false, size, setPhase: (phase: string) => void phases.push(phase) };
    work(engineOf({ bound }));
    return phases;
  };
  const build = (engine: ReturnType<typeof engineOf>) => {
    while (engine.buildStep());
  };

  test("is that of the spool while a fill or an import writes it, of its build, and then of an index", () => {
    const records = [cast(1, "a")];
    const batch = {
      records: records.map((record, offset) => ({ record, offset })),
      validated: unverifiedRecords(records),
    };
    for (const spool of [
      (engine: ReturnType<typeof engineOf>) => engine.applyRelayed({ ops: [], positions: [], spooled: [] }),
      (engine: ReturnType<typeof engineOf>) => void engine.spoolImport(batch, [], 10),
    ]) {
      const phases = phasesOf((engine) => {
        spool(engine);
        build(engine);
      });
      expect([phases.at(0), phases.at(-1)]).toEqual(["spooling", "finished"]);
      expect(new Set(phases.slice(1, -1))).toEqual(new Set(["building"]));
    }
  });

  test("stays that of an index while nothing is spooled", () => {
    expect(phasesOf((engine) => engine.applyRelayed({ ops: [], positions: [] }))).toEqual([]);
  });
});

test("the first commit of a process settles since when channels are part of the protocol, as the settings date it", () => {
  const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
  const engineWith = (at: number) =>
    engineOf({ schedule: engineSchedule(network, [`${CHANNELS_VERSION}=${at}`]) });
  const engine = engineWith(1_790_000_000);
  expect(channelsActiveAt(db)).not.toBe(1_790_000_000);
  engine.apply(account);
  expect(channelsActiveAt(db)).toBe(1_790_000_000);
  engineWith(1_780_000_000).apply(casts);
  expect(channelsActiveAt(db)).toBe(1_780_000_000);
  // The first one has settled its own date already.
  engine.apply(casts);
  expect(channelsActiveAt(db)).toBe(1_780_000_000);
});

test("rows are moved to the id of a late cast in a commit of their own, and without any there is none", () => {
  const engine = engineOf();
  engine.apply(account);
  let commits = 0;
  db.onTransactionEnd = () => {
    commits += 1;
  };
  const repoint = () => {
    const before = commits;
    engine.repointMore();
    return commits - before;
  };
  expect(repoint()).toBe(0);
  const late = cast(1, "late").bytes;
  const target = { fid: 1, hash: hashOf(late) };
  const ops = [...[2, 3].map((fid) => reactionMessage(fid, 1, target)), late].map(
    (message) => ({ kind: "put", message, happenedAt: 0 }) as const,
  );
  db.repoints.rowsPerTransaction = 1;
  engine.applyRelayed({ ops, positions: [] });
  expect([db.repoints.areAny(db), repoint() > 0]).toEqual([true, true]);
  while (db.repoints.areAny(db)) engine.repointMore();
  expect([repoint(), faults]).toEqual([0, []]);
});
