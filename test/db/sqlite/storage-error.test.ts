import { describe, expect, test } from "bun:test";
import { openIndexInMemory } from "../../../src/db/index/database.ts";
import { getPosition, putPosition } from "../../../src/db/index/positions.ts";
import { StorageError } from "../../../src/db/sqlite/storage-error.ts";
import { failStatement, statementsOf } from "../../support/storage-faults.ts";

const put = (db: ReturnType<typeof openIndexInMemory>, position: number) =>
  db.transaction(() => putPosition(db, "work", position));

describe("a write that fails", () => {
  test("leaves the connection usable, whichever statement failed and whether SQLite or the connection rolled back", () => {
    using db = openIndexInMemory();
    const statements = statementsOf(db, () => put(db, 1));
    expect(statements).toEqual(["BEGIN IMMEDIATE", "positions.put", "COMMIT"]);
    for (const rollsBack of [false, true]) {
      for (let n = 1; n <= statements.length; n++) {
        failStatement(db, n, "io", { rollsBack });
        expect(() => put(db, 2)).toThrow(StorageError);
        expect(db.sqlite.inTransaction).toBe(false);
        expect(getPosition(db, "work")).toBe(1);
      }
    }
    put(db, 3);
    expect(getPosition(db, "work")).toBe(3);
  });

  test("reports the first fault when it cannot be rolled back, and is rolled back before the next transaction", () => {
    using db = openIndexInMemory();
    db.beforeStatement = (name) => {
      if (name !== "COMMIT" && name !== "ROLLBACK") return;
      const [code, errno] = name === "COMMIT" ? ["SQLITE_FULL", 13] : ["SQLITE_IOERR", 10];
      throw Object.assign(new Error(name), { name: "SQLiteError", code, errno });
    };
    expect(() => put(db, 1)).toThrow("COMMIT (SQLITE_FULL)");
    expect(db.sqlite.inTransaction).toBe(true);
    db.beforeStatement = undefined;
    put(db, 2);
    expect(getPosition(db, "work")).toBe(2);
  });

  test("is reported until a write that changes rows succeeds", () => {
    using db = openIndexInMemory();
    put(db, 1);
    expect(db.writeFault).toBeUndefined();
    failStatement(db, 3, "full");
    expect(() => put(db, 2)).toThrow(StorageError);
    expect(db.writeFault).toMatchObject({ fault: "full", database: "index", file: ":memory:" });
    db.transaction(() => getPosition(db, "work"));
    expect(db.writeFault).toBeDefined();
    put(db, 2);
    expect(db.writeFault).toBeUndefined();
    failStatement(db, 3, "full");
    expect(() => put(db, 2)).toThrow(StorageError);
    // A statement outside of a transaction commits by itself.
    putPosition(db, "work", 2);
    expect(db.writeFault).toBeUndefined();
  });

  test.each(["corrupt", "not_a_database"] as const)(
    "because of damage (%s) is the last one that runs a statement: every later one fails with that fault",
    async (fault) => {
      using db = openIndexInMemory();
      put(db, 1);
      failStatement(db, 2, fault);
      expect(() => put(db, 2)).toThrow(StorageError);
      const ran = statementsOf(db, () => {
        for (const write of [() => put(db, 3), () => putPosition(db, "work", 4)])
          expect(write).toThrow(StorageError);
        db.retryWrite();
      });
      expect(ran).toEqual([]);
      await expect(db.transactionOf(async () => putPosition(db, "work", 5))).rejects.toThrow(StorageError);
      expect(getPosition(db, "work")).toBe(1);
      expect(db.writeFault).toMatchObject({ fault, isDamage: true });
    },
  );

  test("is not a fault of the database when its arguments are invalid", () => {
    using db = openIndexInMemory();
    expect(() => db.transaction(() => putPosition(db, "work", null as unknown as number))).toThrow(
      "NOT NULL constraint failed",
    );
    expect(() => put(db, Number.NaN)).not.toThrow(StorageError);
    expect(db.writeFault).toBeUndefined();
  });
});
