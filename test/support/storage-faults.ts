import type { SqliteConnection } from "../../src/db/sqlite/connection.ts";

/** Faults of the storage as SQLite reports them. */
const STORAGE_FAULTS = {
  full: { code: "SQLITE_FULL", errno: 13, message: "database or disk is full" },
  busy: { code: "SQLITE_BUSY", errno: 5, message: "database is locked" },
  io: { code: "SQLITE_IOERR_WRITE", errno: 778, message: "disk I/O error" },
  corrupt: { code: "SQLITE_CORRUPT", errno: 11, message: "database disk image is malformed" },
  not_a_database: { code: "SQLITE_NOTADB", errno: 26, message: "file is not a database" },
  readOnly: { code: "SQLITE_READONLY", errno: 8, message: "attempt to write a readonly database" },
} as const;

export type InjectedFault = keyof typeof STORAGE_FAULTS;

/** An error that is indistinguishable from one of bun:sqlite, whose class cannot be constructed. */
export function sqliteError(fault: InjectedFault): Error {
  const { code, errno, message } = STORAGE_FAULTS[fault];
  return Object.assign(new Error(message), { name: "SQLiteError", code, errno, byteOffset: -1 });
}

/** Runs `work`; returns the names of the statements that it ran on `db`, BEGIN and COMMIT included. */
export function statementsOf(db: SqliteConnection, work: () => void): string[] {
  const names: string[] = [];
  db.beforeStatement = (name) => names.push(name);
  try {
    work();
  } finally {
    db.beforeStatement = undefined;
  }
  return names;
}

/**
 * Makes the nth statement (from 1) that runs on `db` from now on fail, once. SQLite may roll back the whole transaction
 * for a full or failing disk; `rollsBack` does so before the failure.
 * @returns whether it has failed.
 */
export function failStatement(
  db: SqliteConnection,
  n: number,
  fault: InjectedFault,
  { rollsBack = false }: { rollsBack?: boolean } = {},
): () => boolean {
  let left = n;
  db.beforeStatement = () => {
    left -= 1;
    if (left > 0) return;
    db.beforeStatement = undefined;
    if (rollsBack && db.sqlite.inTransaction) db.sqlite.exec("ROLLBACK");
    throw sqliteError(fault);
  };
  return () => left <= 0;
}

/**
 * The course of a fault after the first failed statement: it ends at once; a number of statements of any kind fail, as
 * under a foreign lock; or the same statement fails each time, as where a full disk has no page left for one table and
 * some for another.
 */
export type FaultSpan = "once" | { readonly statements: number } | "same statement";

export interface FaultRun {
  /** The number of transactions that a fault hit. */
  readonly faults: number;
  /** Names of the statements that were hit first. */
  readonly failed: ReadonlySet<string>;
}

/**
 * Repeats resumable work until it completes without a fault, and makes every statement of every transaction fail in
 * turn: the first statement of the first transaction, in the next run its second one, and so on to its COMMIT; then
 * those of the next transaction. `work` must throw when a fault stops it, and must resume when it is called again.
 * @param every with 10, only each tenth statement fails.
 * @param perName with 1, each statement fails in one place only, however often it runs.
 */
export async function withFaultAtEveryStatement(
  db: SqliteConnection,
  fault: InjectedFault,
  work: () => unknown,
  options: { span?: FaultSpan; rollsBack?: boolean; every?: number; perName?: number } = {},
): Promise<FaultRun> {
  const { span = "once", rollsBack = false, every = 1, perName = Number.POSITIVE_INFINITY } = options;
  const failed = new Map<string, number>();
  let faults = 0;
  /** The index of the statement of the current transaction that fails next; earlier ones have failed already. */
  let target = 1;
  let hit: { readonly name: string; failures: number } | undefined;
  do {
    /** The number of statements of the current transaction; 0 outside of one. */
    let at = 0;
    let committed = 0;
    hit = undefined;
    const lasts = (name: string): boolean => {
      if (!hit || span === "once") return false;
      return span === "same statement" ? name === hit.name : hit.failures < span.statements;
    };
    db.beforeStatement = (name) => {
      if (name === "ROLLBACK") return;
      if (!hit) {
        if (name.startsWith("BEGIN")) {
          target = Math.max(1, target - committed);
          committed = 0;
          at = 1;
        } else if (at === 0) {
          return;
        } else {
          at += 1;
        }
        const isLast = name === "COMMIT";
        const count = failed.get(name) ?? 0;
        if (at === target && count >= perName) target += 1;
        if (isLast && at !== target) {
          committed = at;
          at = 0;
          return;
        }
        if (at !== target) return;
        target += every;
        faults += 1;
        failed.set(name, count + 1);
        hit = { name, failures: 0 };
      } else if (!lasts(name)) return;
      hit.failures += 1;
      if (rollsBack && db.sqlite.inTransaction) db.sqlite.exec("ROLLBACK");
      throw sqliteError(fault);
    };
    try {
      await work();
      if (hit) throw new Error("the work took a fault of its storage for a success");
    } catch (cause) {
      if (!hit || /took a fault/.test(String(cause))) throw cause;
    } finally {
      db.beforeStatement = undefined;
    }
  } while (hit);
  return { faults, failed: new Set(failed.keys()) };
}
