import type { SqliteConnection } from "../../sqlite/connection.ts";
import { statement } from "../statement.ts";

/** The most rows that one commit moves to other cast ids. */
const MAX_REPOINTED_ROWS = 1000;

export interface Repoint {
  readonly oldId: number;
  readonly newId: number;
}

const allRepoints = statement<Repoint>(
  "repoints.all",
  "SELECT old_id AS oldId, new_id AS newId FROM cast_repoints",
);
const insertRepoint = statement<unknown, [oldId: number, newId: number]>(
  "repoints.insert",
  "INSERT INTO cast_repoints (old_id, new_id) VALUES (?, ?)",
);
const deleteRepoint = statement<unknown, [oldId: number]>(
  "repoints.delete",
  "DELETE FROM cast_repoints WHERE old_id = ?",
);

/** The rows of `cast_repoints`, read once, and how many rows the current transaction may still move. */
export class PendingRepoints {
  /** Old ids by new ids; undefined until they are read. */
  #oldIds: Map<number, number> | undefined;
  readonly #newIds = new Map<number, number>();
  /** The bound of one transaction. Tests lower it. */
  rowsPerTransaction = MAX_REPOINTED_ROWS;
  #rowsLeft = MAX_REPOINTED_ROWS;

  startTransaction(): void {
    this.#rowsLeft = this.rowsPerTransaction;
  }

  /** The number of rows that the current transaction may still move. */
  get rowsLeft(): number {
    return this.#rowsLeft;
  }

  /** Counts moved rows of the current transaction. */
  use(rows: number): void {
    this.#rowsLeft -= rows;
  }

  all(db: SqliteConnection): Repoint[] {
    return [...this.#loaded(db)].map(([newId, oldId]) => ({ oldId, newId }));
  }

  /** Whether rows are left to move. */
  areAny(db: SqliteConnection): boolean {
    return this.#loaded(db).size > 0;
  }

  /** Returns the other id under which rows may still name this cast. */
  oldIdOf(db: SqliteConnection, newId: number): number | undefined {
    return this.#loaded(db).get(newId);
  }

  /** Returns the id of a cast that arrived while rows named it by `oldId`. */
  newIdOf(db: SqliteConnection, oldId: number): number | undefined {
    this.#loaded(db);
    return this.#newIds.get(oldId);
  }

  add(db: SqliteConnection, { oldId, newId }: Repoint): void {
    this.#loaded(db).set(newId, oldId);
    this.#newIds.set(oldId, newId);
    db.run(insertRepoint, oldId, newId);
  }

  remove(db: SqliteConnection, { oldId, newId }: Repoint): void {
    this.#loaded(db).delete(newId);
    this.#newIds.delete(oldId);
    db.run(deleteRepoint, oldId);
  }

  /** Forgets what a transaction that was rolled back may have changed. */
  clear(): void {
    this.#oldIds = undefined;
  }

  #loaded(db: SqliteConnection): Map<number, number> {
    if (this.#oldIds) return this.#oldIds;
    this.#oldIds = new Map();
    this.#newIds.clear();
    for (const { oldId, newId } of db.all(allRepoints)) {
      this.#oldIds.set(newId, oldId);
      this.#newIds.set(oldId, newId);
    }
    return this.#oldIds;
  }
}
