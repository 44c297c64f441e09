import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { toExit } from "../../../src/cli/to-exit.ts";
import { indexPath, openIndexReader, openIndexWriter } from "../../../src/db/index/database.ts";
import { createDeferredSync } from "../../../src/db/index/log/deferred-sync.ts";
import { companionsOf, openAsIs, openReader, openWriter } from "../../../src/db/sqlite/open.ts";
import type { Migrations } from "../../../src/db/sqlite/schema-version.ts";
import { openState, statePath } from "../../../src/db/state/database.ts";
import { openDataDir } from "../../../src/runtime/data-dir.ts";
import { tempDir } from "../../support/program.ts";

const databases = [
  { name: "index", pathIn: indexPath, open: openIndexWriter, recovery: "The index can be rebuilt" },
  { name: "index, to read", pathIn: indexPath, open: openIndexReader, recovery: "The index can be rebuilt" },
  { name: "state", pathIn: statePath, open: openState, recovery: "restore" },
];

/** The exit of a command that opens the database. */
function endingOfOpening(open: (path: string) => Disposable, path: string) {
  try {
    open(path)[Symbol.dispose]();
  } catch (fault) {
    return toExit(fault);
  }
  return { exitCode: 0, message: "" };
}

/** Intact databases without a write-ahead log, to be copied: a closed connection may stay open in this process. */
const made = tempDir();
for (const db of [openIndexWriter(indexPath(made.path)), openState(statePath(made.path))]) {
  db.checkpoint();
  db[Symbol.dispose]();
}
afterAll(() => made[Symbol.dispose]());

function makeDatabases(dir: string): void {
  for (const pathIn of [indexPath, statePath]) copyFileSync(pathIn(made.path), pathIn(dir));
}

describe.each(databases)("the $name", ({ pathIn, open, recovery }) => {
  /** @param damage changes the file of an intact database. */
  function openedAfter(damage: (path: string) => void) {
    using dir = tempDir();
    makeDatabases(dir.path);
    const path = pathIn(dir.path);
    damage(path);
    const ending = endingOfOpening(open, path);
    expect(ending.message).toStartWith(`error: ${path}`);
    expect(ending.message).not.toContain("    at ");
    return ending;
  }

  test("is refused when its version is newer, and both versions are named", () => {
    const { exitCode, message } = openedAfter((path) => {
      using db = new Database(path);
      db.run("INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('h', 4102444800000)");
    });
    expect(exitCode).toBe(1);
    const [, theirs, ours] =
      /newer version of this program\. Its schema is version (\d+) of 2100-01-01; this program knows version (\d+) of 20/.exec(
        message,
      ) ?? [];
    expect(Number(theirs)).toBe(Number(ours) + 1);
  });

  test.each([
    ["is overwritten by something else", (path: string) => writeFileSync(path, "x".repeat(9000))],
    ["is damaged in its first page", (path: string) => overwrite(path, 100, 3000)],
    ["is cut off", (path: string) => truncateSync(path, 4096)],
  ])("that %s says so, and how it comes back", (_, damage) => {
    const { exitCode, message } = openedAfter(damage);
    expect(exitCode).toBe(1);
    expect(message).toMatch(/SQLITE_(NOTADB|CORRUPT)/);
    expect(message).toContain(recovery);
  });

  test("is not opened without its write-ahead log when that is damaged", () => {
    const { exitCode, message } = openedAfter((path) => {
      writeFileSync(`${path}-wal`, new Uint8Array(40_000).fill(7));
    });
    expect(exitCode).toBe(1);
    expect(message).toContain("-wal is damaged");
    expect(message).toContain(recovery);
  });

  test("is opened when its write-ahead log is empty, as after a power failure", () => {
    using dir = tempDir();
    makeDatabases(dir.path);
    writeFileSync(`${pathIn(dir.path)}-wal`, new Uint8Array(4096));
    expect(endingOfOpening(open, pathIn(dir.path)).exitCode).toBe(0);
  });

  test("is reported when it is a directory", () => {
    const { exitCode, message } = openedAfter((path) => {
      rmSync(path);
      mkdirSync(path);
    });
    expect(exitCode).toBe(1);
    expect(message).toContain("is a directory, where the");
  });
});

test.each([
  ["missing", (path: string) => rmSync(path)],
  ["empty", (path: string) => truncateSync(path)],
])("a state that is %s beside a log of its changes is not replaced, and the log stays", (_, lose) => {
  using dir = tempDir();
  makeDatabases(dir.path);
  const path = statePath(dir.path);
  using db = openState(path);
  db.transaction(() => db.sqlite.exec("CREATE TABLE a (b)"));
  using lost = tempDir();
  copyFileSync(`${path}-wal`, `${statePath(lost.path)}-wal`);
  copyFileSync(path, statePath(lost.path));
  lose(statePath(lost.path));
  const { exitCode, message } = endingOfOpening(openState, statePath(lost.path));
  expect(exitCode).toBe(1);
  expect(message).toContain("-wal still holds the latest changes");
  expect(statSync(`${statePath(lost.path)}-wal`).size).toBeGreaterThan(0);
});

test("only the owner can read the files, whatever the modes of the directory and of earlier files", () => {
  using dir = tempDir();
  chmodSync(dir.path, 0o777);
  for (const name of ["state.db", "index.db", "lock", "lock.pid"])
    writeFileSync(`${dir.path}/${name}`, "", { mode: 0o666 });
  const dataDir = openDataDir(dir.path);
  using index = openIndexWriter(indexPath(dir.path));
  using state = openState(statePath(dir.path));
  for (const db of [index, state]) db.transaction(() => db.sqlite.exec("CREATE TABLE a (b)"));
  const modes = Object.fromEntries(
    readdirSync(dir.path).map((name) => [name, (statSync(`${dir.path}/${name}`).mode & 0o777).toString(8)]),
  );
  dataDir.release();
  const files = [
    "index.db",
    "index.db-shm",
    "index.db-wal",
    "lock",
    "lock-journal",
    "lock.pid",
    "state.db",
    "state.db-shm",
    "state.db-wal",
  ];
  expect(modes).toEqual(Object.fromEntries(files.map((name) => [name, "600"])));
});

test.each([
  ["checked whole", undefined],
  ["of which only small tables are checked", { maxBytes: 0 }],
])("a zeroed page of a state %s is found, unless it is free", (_, bound) => {
  using dir = tempDir();
  const path = statePath(dir.path);
  const content = readFileSync(statePath(made.path));
  const unseen: number[] = [];
  for (let page = 2; page <= content.length / 4096; page += 7) {
    const damaged = Buffer.from(content);
    damaged.fill(0, (page - 1) * 4096, page * 4096);
    writeFileSync(path, damaged);
    try {
      using db = openState(path);
      if (db.damage(bound).length === 0) unseen.push(page);
    } catch {
      // Found while it was opened.
    }
  }
  expect(unseen).toEqual([]);
});

test.each(["there", "missing"])(
  "a database that a symbolic link names is used where it is, when it is %s at first",
  (target) => {
    using dir = tempDir();
    const elsewhere = `${dir.path}/elsewhere`;
    mkdirSync(elsewhere);
    if (target === "there") makeDatabases(elsewhere);
    symlinkSync(indexPath(elsewhere), indexPath(dir.path));
    symlinkSync("elsewhere/state.db", statePath(dir.path));
    {
      using index = openIndexWriter(indexPath(dir.path));
      using _state = openState(statePath(dir.path));
      using _reader = openIndexReader(indexPath(dir.path));
      createDeferredSync({ db: index, onFault: (cause) => expect(cause).toBeUndefined() })[Symbol.dispose]();
      expect(companionsOf(indexPath(dir.path))).toEqual([
        `${indexPath(elsewhere)}-wal`,
        `${indexPath(elsewhere)}-shm`,
      ]);
      expect(readdirSync(elsewhere)).toContain("index.db-wal");
    }
    expect(readdirSync(dir.path).sort()).toEqual(["elsewhere", "index.db", "state.db"]);
    writeFileSync(`${indexPath(elsewhere)}-wal`, "no log".repeat(100));
    expect(endingOfOpening(openIndexReader, indexPath(dir.path)).message).toContain("-wal is damaged");
  },
);

test.each([
  ["a reader", (file: string) => openIndexReader(file)],
  ["a writer", (file: string) => openIndexWriter(file)],
  ["a task", (file: string) => openAsIs({ database: "index", file }, { readonly: true })],
] as const)(
  "the journal of a process that was killed before the write-ahead log was on is rolled back by %s",
  (_who, open) => {
    using dir = tempDir();
    makeDatabases(dir.path);
    const file = indexPath(dir.path);
    mkdirSync(`${dir.path}/killed`);
    const killed = indexPath(`${dir.path}/killed`);
    {
      using sqlite = new Database(file);
      sqlite.exec("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN");
      // More than the cache holds, so that the database file has pages of the transaction.
      sqlite.exec("CREATE TABLE half (x)");
      for (let n = 0; n < 200; n += 1) sqlite.exec("INSERT INTO half VALUES (randomblob(4000))");
      for (const suffix of ["", "-journal"]) copyFileSync(file + suffix, killed + suffix);
      sqlite.exec("ROLLBACK");
    }
    expect(statSync(killed).size).toBeGreaterThan(statSync(file).size);
    open(killed)[Symbol.dispose]();
    using sqlite = new Database(killed, { readonly: true });
    expect(sqlite.query("SELECT name FROM sqlite_schema WHERE name = 'half'").all()).toEqual([]);
    expect(sqlite.query("PRAGMA quick_check").values()).toEqual([["ok"]]);
  },
);

test("a database without the latest migration is refused by readers, until its writer has migrated it", () => {
  using dir = tempDir();
  const file = indexPath(dir.path);
  const migration = (at: number, sql: string) => ({ folderMillis: at, hash: `${at}`, bps: true, sql: [sql] });
  const init = migration(1, "CREATE TABLE a (x)");
  const migrations = [init, migration(2, "ALTER TABLE a ADD COLUMN y"), migration(3, "CREATE TABLE b (x)")];
  const settings = { cacheKib: 1024, checkpointPages: 1000, mayCreate: true };
  const write = (known: Migrations) =>
    openWriter({ database: "index", file }, { ...settings, migrations: known }).close();
  const read = () => openReader({ database: "index", file }, { ...settings, migrations });
  write([init]);
  const { exitCode, message } = toExit(failureOf(read));
  expect(exitCode).toBe(1);
  expect(message).toContain("older version");
  expect(message).toContain("Run the migrate command");
  write(migrations);
  const sqlite = read();
  expect(sqlite.query("SELECT name FROM pragma_table_info('a')").values()).toEqual([["x"], ["y"]]);
  expect(sqlite.query("SELECT * FROM b").values()).toEqual([]);
  sqlite.close();
});

function failureOf(run: () => unknown): unknown {
  try {
    run();
  } catch (cause) {
    return cause;
  }
  return undefined;
}

function overwrite(path: string, from: number, bytes: number): void {
  const content = readFileSync(path);
  content.fill(0xee, from, from + bytes);
  writeFileSync(path, content);
}
