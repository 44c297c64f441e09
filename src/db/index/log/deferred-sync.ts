import { fdatasync, fdatasyncSync } from "node:fs";
import { StorageError } from "../../sqlite/storage-error.ts";
import type { IndexDatabase } from "../database.ts";
import type { DurableEnds } from "./commit-sequence.ts";
import { lastHubEventSeq } from "./hub-log.ts";
import { lastOutboxSeq } from "./outbox.ts";

/** Syncs the write-ahead log in parallel with the writer. Several commits share a sync. */
export interface DeferredSync extends Disposable {
  /** Runs `work`, whose commits are visible before they are on disk. */
  during<T>(work: () => T): T;
  /** Resolves when all commits so far are on disk. */
  synced(): Promise<void>;
}

/** Syncs a file on a thread of the runtime. */
export type SyncFile = (descriptor: number, done: (cause: Error | null) => void) => void;

export interface DeferredSyncDeps {
  /** The connection of the writer, whose other commits SQLite syncs one by one. */
  readonly db: IndexDatabase;
  /**
   * Called when the log could not be synced. The commits since the last sync are visible and may be lost, and no later sync
   * would report it, so the process must end.
   */
  readonly onFault: (cause: Error) => void;
  readonly sync?: SyncFile;
}

/**
 * Syncs the log on another thread while the next commit is merged. What SQLite itself needs to survive a power failure does
 * not change: a checkpoint syncs the log before it writes the database, and the database before the log starts again, with
 * `synchronous = NORMAL` as with `FULL`. A power failure therefore loses only the last commits, in their order, and none
 * that a sync has covered.
 *
 * The ends of the event logs in `db.commits` move when the sync has finished.
 *
 * @throws Error if the log cannot be synced.
 */
export function createDeferredSync({ db, onFault, sync = fdatasync }: DeferredSyncDeps): DeferredSync {
  // After a failed sync the kernel may still hold pages of the log in memory that it will never write. Moving them to the
  // database writes them again.
  db.checkpoint("PASSIVE");
  const log = db.logDescriptor;
  fdatasyncSync(log);
  /** Whether SQLite leaves the sync of a commit to this object. */
  let isDeferring = false;
  /** Whether there are commits that no started sync covers. */
  let isBehind = false;
  let isSyncing = false;
  let isClosed = false;
  /** Callers waiting for the running sync, and for the next one. */
  let waiting: (() => void)[] = [];
  let waitingForNext: (() => void)[] = [];

  /**
   * Undefined if they cannot be read: the commit that has just finished is valid all the same, and the next one moves the
   * ends. Within a transaction, which a failed rollback leaves open, its own event numbers would be visible, and the next
   * transaction assigns those again.
   */
  function endsNow(): DurableEnds | undefined {
    if (db.sqlite.inTransaction) return undefined;
    try {
      return { outboxSeq: lastOutboxSeq(db), hubSeq: lastHubEventSeq(db) };
    } catch (cause) {
      if (!(cause instanceof StorageError)) throw cause;
      return undefined;
    }
  }

  function moveEnds(ends: DurableEnds | undefined): void {
    if (ends) db.commits?.moveDurableEnds(ends);
  }

  function defer(shouldDefer: boolean): void {
    // The setting cannot change within a transaction, which a failed rollback leaves open.
    if (isDeferring === shouldDefer || db.sqlite.inTransaction) return;
    db.sqlite.exec(`PRAGMA synchronous = ${shouldDefer ? "NORMAL" : "FULL"}`);
    isDeferring = shouldDefer;
  }

  function transactionEnded(): void {
    if (isDeferring || isBehind || isSyncing) {
      isBehind = true;
      start();
    } else {
      moveEnds(endsNow());
    }
  }

  function start(): void {
    if (isSyncing || !isBehind || isClosed) return;
    isBehind = false;
    isSyncing = true;
    waiting = waitingForNext;
    waitingForNext = [];
    const covered = endsNow();
    sync(log, (cause) => {
      if (isClosed) return;
      if (cause) {
        onFault(cause);
        return;
      }
      isSyncing = false;
      moveEnds(covered);
      for (const resolve of waiting) resolve();
      start();
    });
  }

  moveEnds(endsNow());
  db.onTransactionEnd = transactionEnded;
  return {
    during(work) {
      defer(true);
      try {
        return work();
      } finally {
        defer(false);
      }
    },
    async synced() {
      if (!isBehind && !isSyncing) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      (isBehind ? waitingForNext : waiting).push(resolve);
      await promise;
    },
    [Symbol.dispose]() {
      isClosed = true;
      db.onTransactionEnd = undefined;
    },
  };
}
