import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readShardTotals, readTotals, shardCount } from "../../../../src/db/index/counts/totals.ts";
import {
  indexPath,
  openIndexInMemory,
  openIndexReader,
  openIndexWriter,
} from "../../../../src/db/index/database.ts";
import { putPosition } from "../../../../src/db/index/positions.ts";
import { OLDER_FORMATS, OlderIndex } from "../../../../src/db/index/upgrade/older-index.ts";
import { dropOldIndex, restoreIndex } from "../../../../src/db/index/upgrade/replace-file.ts";
import { scanMessages } from "../../../../src/db/index/upgrade/scan-messages.ts";
import { BUILT_TABLES, COPIED_TABLES, OTHER_TABLES } from "../../../../src/db/index/upgrade/tables.ts";
import {
  readMarks,
  type UpgradeProgress,
  type UpgradeReport,
  upgradeIndex,
} from "../../../../src/db/index/upgrade/upgrade-index.ts";
import { verifyIndex } from "../../../../src/db/index/verify/verify.ts";
import { UserError } from "../../../../src/lib/failure.ts";
import { FarcasterNetwork } from "../../../../src/protocol/wire/generated/message.ts";
import { ANCHOR_SECS } from "../../../demo/records.ts";
import { dumpIndex } from "../../../support/dump.ts";
import { mixedRecords } from "../../../support/mixed-records.ts";
import { accountRecords, startTestNode, type TestNode } from "../../../support/node.ts";
import { oddMessages } from "../../../support/odd-messages.ts";
import { writeOlderIndex } from "../../../support/older-index.ts";

const MAINNET = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
const SEQ = 4711;

let node: TestNode;
let root: string;

/** An index that the live writer filled with messages of every kind and encoding, and the same in the older format. */
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "upgrade-test-"));
  node = startTestNode({ nowSecs: ANCHOR_SECS });
  node.ingestAll([...mixedRecords({ fids: 5, perType: 10 }), ...accountRecords(7, 10)]);
  for (const bytes of oddMessages(7)) expect(node.ingestMessage(bytes)).toBe("ok");
  const { sqlite } = node.db;
  putPosition(node.db, "upstream shards", 1);
  sqlite.run("INSERT INTO upstream_todo VALUES (5)");
  sqlite.run("INSERT INTO chain_heads VALUES (1, 2, x'08', 3, x'09', 2)");
  sqlite.run("INSERT INTO confirmed_events VALUES (1, 3, 7, x'0a', 2)");
  sqlite.run("INSERT INTO trie_corrections VALUES (1, x'0a', 1)");
  sqlite.run("INSERT INTO trie_key_adds VALUES (7, x'0b', x'0c')");
  sqlite.run("INSERT INTO trie_opaque VALUES (1, x'0d', 8, x'0e', 3)");
  sqlite.run("INSERT INTO trie_accounts VALUES (1, x'0d', x'0f', x'10', NULL)");
  sqlite.run("INSERT INTO trie_dirty VALUES (1, x'0d', 8)");
  sqlite.run("INSERT INTO trie_shards VALUES (1, 2, 3, NULL, 0)");
  sqlite.run("INSERT INTO upstream_mentioned VALUES (6)");
  sqlite.run("INSERT INTO channels VALUES (x'0a', 'books', 'books', 'books', x'0b', 1, 2, 3, 4, 5)");
  sqlite.run("INSERT INTO channel_slots VALUES (x'0a', 19, x'0c', 7, 1, 8, 9, 10, NULL, NULL)");
  sqlite.run("INSERT INTO channel_replaced VALUES (1, x'0d')");
  sqlite.run("INSERT INTO channel_counts VALUES (x'0a', 1, 0, 1, 0, 0)");
  sqlite.run("INSERT INTO owner_claims VALUES (7, x'0b', 1, 2, x'0d', 3)");
  sqlite.run("INSERT INTO unknown_records VALUES (1, 'message', 99, 0, 1, 2, x'0e')");
  sqlite.run("INSERT INTO score_runs VALUES (1, 'imported', 1, 2, 'csv', '{}', '[]', '{}')");
  sqlite.run("INSERT INTO scores VALUES (1, 7, 50, 0, 0, 0, NULL, 'a reason')");
  sqlite.run("INSERT INTO unknown_kinds VALUES ('message', 99, 1, 0, 2)");
  sqlite.run("INSERT INTO upstream_journal VALUES (1, 2, x'0102')");
  sqlite.run("INSERT INTO key_removals VALUES (x'01', x'02')");
  sqlite.run("INSERT INTO key_nonces VALUES (7, 0, 9)");
  sqlite.run("INSERT INTO gasless_keys VALUES (x'03', 7, 8, '[1]', 60, 1, 2, 3)");
  sqlite.run("INSERT INTO rankings VALUES ('channels', 1, 1, x'05', 0.5)");
  sqlite.run("INSERT INTO username_proof_rivals VALUES ('a.eth', 7, 2, x'06', x'07', 8)");
  sqlite.run(`INSERT INTO channel_registry (id, registry_id, name, name_key, moderator_fids, follower_count)
    VALUES ('a', 'a', 'A', 'a', '[]', 1)`);
  for (const seq of [3, 8]) {
    sqlite.run(
      `INSERT INTO event_outbox VALUES (${seq}, x'09', 'cast.created', 7, 1, 2, x'0a', x'0b', 'u', NULL, NULL)`,
    );
  }
  writeOlderIndex(join(root, "older.db"), node.db);
});

afterAll(() => {
  node[Symbol.dispose]();
  rmSync(root, { recursive: true, force: true });
});

/** A data directory with a copy of the older index. */
function olderDir(change: (sqlite: Database) => void = () => {}) {
  const dir = mkdtempSync(join(tmpdir(), "upgrade-test-"));
  const path = indexPath(dir);
  cpSync(join(root, "older.db"), path);
  const sqlite = new Database(path, { strict: true });
  change(sqlite);
  sqlite.close();
  return { path, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}

async function upgrade(
  path: string,
  onProgress: (progress: UpgradeProgress) => void = () => {},
): Promise<UpgradeReport> {
  using older = OlderIndex.open(path);
  if (!older) throw new Error("not in the older format");
  return await upgradeIndex({ older, network: "mainnet", signal: new AbortController().signal, onProgress });
}

/** The error of an upgrade. `expect().rejects` takes up to minutes for a promise that yields often. */
function failureOf(upgrading: Promise<unknown>): Promise<unknown> {
  return upgrading.then(
    () => undefined,
    (cause: unknown) => cause,
  );
}

function dumpOf(path: string): string {
  using db = openIndexWriter(path);
  return dumpIndex(db);
}

describe("upgradeIndex", () => {
  test("gives the index that the live writer made of the same messages, and keeps the older file", async () => {
    using dir = olderDir();
    const report = await upgrade(dir.path);
    expect(dumpOf(dir.path)).toBe(dumpIndex(node.db));
    expect(verifyIndex(dir.path)).toEqual([]);
    expect(report.messages).toBe(readTotals(node.db).messages);
    using db = openIndexReader(dir.path);
    const hex = (bytes: Uint8Array) => bytes.toHex();
    expect(scanMessages(db, MAINNET).map(hex).toArray().sort()).toEqual(
      scanMessages(node.db, MAINNET).map(hex).toArray().sort(),
    );
    expect(readShardTotals(db)).toEqual(readShardTotals(node.db));
    expect(readMarks(db)).toBeUndefined();
    using older = OlderIndex.open(`${dir.path}.old`);
    expect(older?.messages).toBe(report.messages);
    for (const suffix of ["", "-wal", "-shm"]) expect(existsSync(`${dir.path}.new${suffix}`)).toBe(false);
    expect(statSync(dir.path).mode & 0o777).toBe(0o600);
  });

  test("copies every row that cannot be built from messages", async () => {
    using dir = olderDir();
    await upgrade(dir.path);
    using db = openIndexReader(dir.path);
    for (const table of COPIED_TABLES) {
      const rows = node.db.sqlite.query(`SELECT * FROM ${table}`).values();
      expect(rows.length, table).toBeGreaterThan(0);
      expect(db.sqlite.query(`SELECT * FROM ${table}`).values(), table).toEqual(rows);
    }
  });

  test("reports a table that is built from messages and had another number of rows", async () => {
    using dir = olderDir((sqlite) => sqlite.run("DELETE FROM verifications"));
    const { differences } = await upgrade(dir.path);
    using db = openIndexReader(dir.path);
    const after = db.sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM verifications").get()?.n ?? 0;
    expect(after).toBeGreaterThan(0);
    expect(differences).toEqual([{ table: "verifications", before: 0, after }]);
  });

  test("never uses the number of an event again, also with an empty outbox", async () => {
    using dir = olderDir((sqlite) => {
      sqlite.run("DELETE FROM event_outbox");
      sqlite.run(`UPDATE sqlite_sequence SET seq = ${SEQ} WHERE name = 'event_outbox'`);
    });
    await upgrade(dir.path);
    using db = openIndexWriter(dir.path);
    db.sqlite.run(`INSERT INTO event_outbox (event_id, kind, fid, happened_at, applied_at)
      VALUES (x'00', 'cast.created', 1, 1, 1)`);
    expect(db.sqlite.query("SELECT max(seq) AS seq FROM event_outbox").get()).toEqual({ seq: SEQ + 1 });
  });

  test("counts the totals by the shards of the followed network", async () => {
    using dir = olderDir((sqlite) =>
      sqlite.run("UPDATE positions SET position = 2 WHERE key = 'upstream shards'"),
    );
    await upgrade(dir.path);
    using db = openIndexReader(dir.path);
    expect(shardCount(db)).toBe(2);
    expect([...readShardTotals(db).keys()].sort()).toEqual([1, 2]);
    expect(readTotals(db)).toEqual(readTotals(node.db));
  });

  test("has the same result when it is interrupted at every step", async () => {
    using dir = olderDir();
    const stop = new Error("stopped");
    const seen = new Set<string>();
    let runs = 0;
    for (let isDone = false; !isDone; runs++) {
      isDone = await upgrade(dir.path, ({ stage, part, share }) => {
        const step = `${stage} ${part} ${share}`;
        if (seen.has(step)) return;
        seen.add(step);
        throw stop;
      }).then(
        () => true,
        (cause) => {
          if (cause !== stop) throw cause;
          return false;
        },
      );
    }
    expect(runs).toBeGreaterThan(10);
    expect(dumpOf(dir.path)).toBe(dumpIndex(node.db));
  });

  test("starts over when the older file was written to in between", async () => {
    using dir = olderDir();
    const stop = new Error("stopped");
    const stopAtBuild = ({ stage }: UpgradeProgress) => {
      if (stage === "build") throw stop;
    };
    expect(await failureOf(upgrade(dir.path, stopAtBuild))).toBe(stop);
    const sqlite = new Database(dir.path);
    sqlite.run("DELETE FROM upstream_todo");
    sqlite.close();
    await upgrade(dir.path);
    using db = openIndexReader(dir.path);
    expect(db.sqlite.query("SELECT count(*) AS n FROM upstream_todo").get()).toEqual({ n: 0 });
  });

  test("takes what a file lacks as empty", async () => {
    using dir = olderDir((sqlite) => {
      sqlite.run("DROP TABLE key_removals");
      sqlite.run("DROP TABLE upstream_journal");
      sqlite.run("ALTER TABLE gasless_keys DROP COLUMN nonce");
    });
    await upgrade(dir.path);
    using db = openIndexReader(dir.path);
    expect(db.sqlite.query("SELECT nonce FROM gasless_keys").all()).toEqual([{ nonce: 0 }]);
    expect(db.sqlite.query("SELECT count(*) AS n FROM key_removals").get()).toEqual({ n: 0 });
  });

  test("refuses a message whose stored bytes it cannot give back, and leaves the older index in place", async () => {
    using dir = olderDir((sqlite) => {
      const row = sqlite
        .query<{ id: number; bytes: Uint8Array }, []>(
          "SELECT id, bytes FROM messages WHERE store = 3 LIMIT 1",
        )
        .get();
      if (!row) throw new Error("no reaction");
      // A wrong hash: the first field of the envelope.
      sqlite
        .query("UPDATE messages SET bytes = ? WHERE id = ?")
        .run(row.bytes.with(5, (row.bytes[5] ?? 0) ^ 1), row.id);
    });
    const before = readFileSync(dir.path);
    expect(await failureOf(upgrade(dir.path))).toHaveProperty(
      "message",
      expect.stringContaining("differs from"),
    );
    expect(readFileSync(dir.path).equals(before)).toBe(true);
    using older = OlderIndex.open(dir.path);
    expect(older).toBeDefined();
  });

  test("refuses to overwrite a file that has the name of the older one, and ends when it is deleted", async () => {
    using dir = olderDir();
    writeFileSync(`${dir.path}.old`, "notes of the operator");
    expect(await failureOf(upgrade(dir.path))).toHaveProperty(
      "message",
      expect.stringContaining("already exists"),
    );
    expect(readFileSync(`${dir.path}.old`, "utf8")).toBe("notes of the operator");
    rmSync(`${dir.path}.old`);
    await upgrade(dir.path);
    expect(dumpOf(dir.path)).toBe(dumpIndex(node.db));
  });

  test("refuses the index of another network", async () => {
    using dir = olderDir((sqlite) => sqlite.run("UPDATE meta SET value = 'testnet' WHERE key = 'network'"));
    expect(await failureOf(upgrade(dir.path))).toBeInstanceOf(UserError);
  });
});

describe("OlderIndex.open", () => {
  test("refuses a file in an older format that the program does not know", () => {
    using dir = olderDir();
    const formats = OLDER_FORMATS.splice(0);
    try {
      expect(() => OlderIndex.open(dir.path)).toThrow("cannot read the format");
    } finally {
      OLDER_FORMATS.push(...formats);
    }
  });

  test("gives nothing for an index in the current format, an empty file and a missing one", () => {
    using dir = olderDir();
    expect(OlderIndex.open(`${dir.path}.missing`)).toBeUndefined();
    truncateSync(dir.path, 0);
    expect(OlderIndex.open(dir.path)).toBeUndefined();
    openIndexWriter(dir.path)[Symbol.dispose]();
    expect(OlderIndex.open(dir.path)).toBeUndefined();
  });
});

describe("opening an index in an older format", () => {
  test.each([
    ["for writing", openIndexWriter],
    ["for reading", openIndexReader],
  ])("%s is refused with the command to run", (_name, open) => {
    using dir = olderDir();
    expect(() => open(dir.path)).toThrow("svc migrate");
    expect(() => open(dir.path)).toThrow(UserError);
  });
});

test("a replacement that a crash left without an index is undone", async () => {
  using dir = olderDir();
  cpSync(dir.path, `${dir.path}.old`);
  cpSync(dir.path, `${dir.path}.new`);
  rmSync(dir.path);
  restoreIndex(dir.path);
  expect(existsSync(dir.path)).toBe(true);
  expect(existsSync(`${dir.path}.old`)).toBe(false);
});

test("only an older index is deleted under the name of one", () => {
  using dir = olderDir();
  const old = `${dir.path}.old`;
  openIndexWriter(old)[Symbol.dispose]();
  dropOldIndex(dir.path);
  expect(existsSync(old)).toBe(true);
  writeFileSync(old, "notes of the operator");
  dropOldIndex(dir.path);
  expect(existsSync(old)).toBe(true);
  cpSync(dir.path, old);
  dropOldIndex(dir.path);
  expect(existsSync(old)).toBe(false);
});

test("every table of the index is copied, built or handled by itself", () => {
  using db = openIndexInMemory();
  const tables = db.sqlite
    .query<{ name: string }, []>(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type != 'shadow'",
    )
    .all()
    .map(({ name }) => name)
    .filter((name) => !name.startsWith("sqlite_") && name !== "__drizzle_migrations");
  expect(([...COPIED_TABLES, ...BUILT_TABLES, ...OTHER_TABLES] as string[]).toSorted()).toEqual(
    tables.toSorted(),
  );
});
