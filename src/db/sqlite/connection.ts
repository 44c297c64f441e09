import type { Changes, SQLQueryBindings } from "bun:sqlite";
import { isTransient } from "../../lib/failure.ts";
import { type Command, command, StatementConnection } from "./statement-connection.ts";
import type { Statement } from "./statement-registry.ts";
import { asStorageError, StorageError, storageError, type UnnoticedFault } from "./storage-error.ts";
import { WriteAheadLog } from "./write-ahead-log.ts";

const BEGIN = command("BEGIN");
const BEGIN_IMMEDIATE = command("BEGIN IMMEDIATE");
const COMMIT = command("COMMIT");
const ROLLBACK = command("ROLLBACK");
/** Allocates and frees some pages in the one table that every database of the node has. */
const ALLOCATE_PAGES = command("INSERT INTO __drizzle_migrations (hash) VALUES (zeroblob(65536))");
const FREE_PAGES = command("DELETE FROM __drizzle_migrations WHERE created_at IS NULL");
const TOTAL_CHANGES = command("SELECT total_changes() AS changes");

const DAMAGED_ELSEWHERE: UnnoticedFault = {
  fault: "corrupt",
  message: "another thread has found damage",
};

/**
 * A connection to one of the node's databases that can write.
 *
 * Every method throws a StorageError, which names the file, when the database itself fails.
 */
export abstract class SqliteConnection extends StatementConnection implements Disposable {
  #writeFault: StorageError | undefined;
  #needsRollback = false;
  /** Set in a node. Reports whether another thread has found damage, after which the writer commits nothing more. */
  isDamagedElsewhere: (() => boolean) | undefined;
  /** Set in a node that exports traces. Runs each read within a span. */
  traceRead: (<T>(work: () => T) => T) | undefined;
  #log: WriteAheadLog | undefined;

  /** Runs a statement without result rows. Returns the number of changed rows. */
  run<Params extends readonly SQLQueryBindings[]>(s: Statement<unknown, Params>, ...params: Params): number {
    return this.#run(s, params).changes;
  }

  /** Runs an INSERT into a table with a row id. Returns the id of the row. */
  insert<Params extends readonly SQLQueryBindings[]>(
    s: Statement<unknown, Params>,
    ...params: Params
  ): number {
    return Number(this.#run(s, params).lastInsertRowid);
  }

  /**
   * Starts watching the files of the database, for its writer. A transaction fails if they are no longer the ones that it
   * wrote to, because a restart would not find its commits. Call it once.
   */
  watchFiles(): this {
    this.#log = new WriteAheadLog(this.sqlite);
    return this;
  }

  /** Descriptor of the log, valid until the connection closes. Only for a connection that watches its files. */
  get logDescriptor(): number {
    if (!this.#log) throw new Error(`${this.file}: the log is not watched`);
    return this.#log.descriptor;
  }

  /**
   * Checks the files. Returns why nothing more may be committed: damage was found, or the files are not the ones that this
   * connection wrote to. Commits in a deleted log are moved into the database first.
   */
  findDamage(): StorageError | undefined {
    if (this.#writeFault?.isDamage) return this.#writeFault;
    const fault = this.isDamagedElsewhere?.() ? DAMAGED_ELSEWHERE : this.#log?.check();
    if (!fault) return undefined;
    const error = storageError(this, fault);
    this.#writeFault = error;
    if (fault.fault === "deleted") this.#withoutWaiting(() => this.checkpoint("PASSIVE"));
    return error;
  }

  /** Runs `work` in one write transaction. Rolls back if it throws. */
  transaction<T>(work: () => T): T {
    try {
      this.#requireSound();
      const changesBefore = this.#writeFault && this.#totalChanges();
      const result = this.#within(BEGIN_IMMEDIATE, work);
      this.#requireSound();
      this.#noteCommit(changesBefore);
      return result;
    } catch (cause) {
      throw this.#failedWrite(cause);
    }
  }

  /**
   * Like `transaction`, for work that awaits only statements of this connection. Such work runs within one turn of the event
   * loop, without interleaving with anything else of the thread.
   */
  async transactionOf<T>(work: () => Promise<T>): Promise<T> {
    try {
      this.#requireSound();
      const changesBefore = this.#writeFault && this.#totalChanges();
      if (this.#needsRollback) this.#rollBack();
      this.control(BEGIN_IMMEDIATE);
      try {
        const result = await work();
        this.control(COMMIT);
        this.#requireSound();
        this.#noteCommit(changesBefore);
        return result;
      } catch (cause) {
        this.#rollBackAfterError();
        throw cause;
      }
    } catch (cause) {
      throw this.#failedWrite(cause);
    }
  }

  /** Runs `work` on one snapshot: its statements do not see concurrent commits. */
  snapshot<T>(work: () => T): T {
    return this.traced(() => this.#within(BEGIN, work));
  }

  /** Traces a read of several statements, which may wait between them, as one read of a request. */
  traced<T>(work: () => T): T {
    return this.traceRead ? this.traceRead(work) : work();
  }

  /**
   * The error of the last write, if it failed. Damage of the file is kept for the life of the connection, because a write to
   * other pages succeeds but repairs nothing.
   */
  get writeFault(): StorageError | undefined {
    return this.#writeFault;
  }

  /**
   * After a failed write, tests whether the database can be written again by allocating and freeing some pages. Never waits
   * for another connection's lock.
   */
  retryWrite(): void {
    if (!this.#writeFault || this.#writeFault.isDamage) return;
    try {
      this.#withoutWaiting(() =>
        this.transaction(() => {
          this.control(ALLOCATE_PAGES);
          this.control(FREE_PAGES);
        }),
      );
    } catch (cause) {
      if (!(cause instanceof StorageError)) throw cause;
    }
  }

  /** Writes the write-ahead log back into the database file and truncates it, unless a reader needs it now. */
  tryTruncateLog(): void {
    this.#withoutWaiting(() => this.checkpoint());
  }

  /**
   * Writes the write-ahead log back into the database file and truncates it. `PASSIVE` does not wait for readers and does
   * not truncate. If the disk refuses that, the log stays as it is and nothing is lost: a later checkpoint writes it back.
   *
   * @throws StorageError if the log has lost commits. Nothing is written back then.
   */
  checkpoint(mode: "TRUNCATE" | "PASSIVE" = "TRUNCATE"): void {
    const damage = this.findDamage();
    if (damage?.fault === "log_lost") throw damage;
    try {
      this.sqlite.exec(`PRAGMA wal_checkpoint(${mode})`);
    } catch (cause) {
      const fault = asStorageError(this, cause);
      if (!(fault instanceof StorageError) || !isTransient(fault)) throw fault;
    }
  }

  [Symbol.dispose](): void {
    this.finalizeStatements();
    // On a second call, the descriptor could belong to another file.
    this.#log?.[Symbol.dispose]();
    this.#log = undefined;
    this.sqlite.close();
  }

  #requireSound(): void {
    const damage = this.findDamage();
    if (damage) throw damage;
  }

  /** Runs `work` so that it fails instead of waiting for another connection's lock. */
  #withoutWaiting(work: () => void): void {
    const { timeout = 0 } = this.sqlite.query<{ timeout: number }, []>("PRAGMA busy_timeout").get() ?? {};
    this.sqlite.exec("PRAGMA busy_timeout = 0");
    try {
      work();
    } finally {
      this.sqlite.exec(`PRAGMA busy_timeout = ${timeout}`);
    }
  }

  #within<T>(begin: Command, work: () => T): T {
    // A transaction whose rollback failed still holds its lock and its changes.
    if (this.#needsRollback) this.#rollBack();
    this.control(begin);
    try {
      const result = work();
      this.control(COMMIT);
      return result;
    } catch (cause) {
      this.#rollBackAfterError();
      throw cause;
    }
  }

  #rollBackAfterError(): void {
    try {
      this.#rollBack();
    } catch {
      // The first error is reported; the next transaction retries the rollback.
    }
  }

  /**
   * Clears the fault after a commit that wrote something. An empty commit writes nothing, so it does not prove that the disk
   * works.
   */
  #noteCommit(changesBefore: number | undefined): void {
    if (this.#writeFault && this.#totalChanges() !== changesBefore) this.#clearWriteFault();
  }

  #run(s: Statement<unknown, never>, params: readonly SQLQueryBindings[]): Changes {
    this.onStatement?.(s.name);
    try {
      const commits = !this.sqlite.inTransaction;
      if (commits) this.#requireSound();
      const result = this.prepared(s).run(...params);
      if (commits) this.#requireSound();
      if (commits && result.changes > 0) this.#clearWriteFault();
      return result;
    } catch (cause) {
      throw this.#failedWrite(cause);
    }
  }

  #rollBack(): void {
    // On a full disk, SQLite may have rolled back already.
    this.#needsRollback = this.sqlite.inTransaction;
    if (this.#needsRollback) this.control(ROLLBACK);
    this.#needsRollback = false;
  }

  /** Records a failed write. Returns the error to throw. */
  #failedWrite(cause: unknown): unknown {
    const fault = asStorageError(this, cause);
    if (!(fault instanceof StorageError) || fault.file !== this.file) return fault;
    if (this.#writeFault?.isDamage) return fault;
    // A busy lock does not mean that a full disk has recovered.
    if (fault.fault !== "busy" || !this.#writeFault) this.#writeFault = fault;
    return fault;
  }

  #clearWriteFault(): void {
    if (!this.#writeFault?.isDamage) this.#writeFault = undefined;
  }

  #totalChanges(): number {
    return (this.prepared(TOTAL_CHANGES).get() as { changes: number }).changes;
  }
}
