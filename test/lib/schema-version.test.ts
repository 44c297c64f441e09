import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { appliedMigrations, type Migrations, migrate } from "../../src/db/sqlite/schema-version.ts";

const migration = (folderMillis: number, ...sql: string[]): Migrations[number] => ({
  folderMillis,
  sql,
  hash: `hash ${folderMillis}`,
  bps: true,
});
const FIRST = migration(1, "CREATE TABLE t (a PRIMARY KEY)", "INSERT INTO t VALUES (1)");

describe("migrating", () => {
  test("runs the missing migrations in order, and none twice", () => {
    using sqlite = new Database(":memory:");
    migrate(sqlite, [FIRST]);
    migrate(sqlite, [FIRST, migration(2, "INSERT INTO t SELECT max(a) + 1 FROM t")]);
    migrate(sqlite, [FIRST, migration(2, "INSERT INTO t SELECT max(a) + 1 FROM t")]);
    expect(sqlite.query("SELECT a FROM t").values()).toEqual([[1], [2]]);
    expect(appliedMigrations(sqlite)).toEqual([1, 2]);
  });

  // SQLite rolls back like this when the disk is full or fails.
  test("reports the fault when SQLite rolled back by itself, and leaves no change", () => {
    using sqlite = new Database(":memory:");
    const failing = migration(2, "INSERT INTO t VALUES (2)", "INSERT OR ROLLBACK INTO t VALUES (1)");
    expect(() => migrate(sqlite, [FIRST, failing])).toThrow("UNIQUE constraint failed: t.a");
    expect(sqlite.inTransaction).toBe(false);
    expect(sqlite.query("SELECT count(*) FROM sqlite_master").values()).toEqual([[0]]);
    migrate(sqlite, [FIRST]);
    expect(appliedMigrations(sqlite)).toEqual([1]);
  });
});
