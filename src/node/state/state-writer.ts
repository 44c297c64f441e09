import { StorageError, type StorageFault } from "../../db/sqlite/storage-error.ts";
import type { StateDatabase } from "../../db/state/database.ts";
import type { StateCall, WriterDecision } from "../../db/state/sqlite-state-db.ts";
import { type StateClock, saveClock, stateSecs } from "../../db/state/state-clock.ts";
import { StateUnavailable } from "../../db/state/unavailable.ts";
import { reasonOf } from "../../lib/failure.ts";

/** Bounds a transaction, so that it stays short. */
const MAX_GROUP_CALLS = 256;
/** How often the state's clock is saved, with and without writes. */
const SAVE_SECS = 10;
const SAVE_IDLE_SECS = 60;
/** The delay before the next attempt while another connection has locked the database. */
const LOCK_RETRY_MS = 10;

interface Waiting {
  /** Must await only its statements. */
  readonly run: () => Promise<unknown>;
  readonly syncs: boolean;
  readonly deadlineMs: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (cause: unknown) => void;
}

export interface StateWriterStats {
  /** Calls waiting for a transaction. */
  readonly waiting: number;
  readonly commits: number;
  readonly committedCalls: number;
  /** Calls that were dropped because their deadline had passed. */
  readonly expiredCalls: number;
  /** How long another connection has locked the database, ms; 0 if none does. */
  readonly stalledMs: number;
  /** Unix ms of the last commit; null before the first. */
  readonly lastSuccessAtMs: number | null;
  /** Why the last write failed, such as a full disk; null after a success. */
  readonly failure: string | null;
}

const UNDONE: ReadonlySet<StorageFault> = new Set(["full", "read_only", "cannot_open"]);

export interface StateWriterOptions {
  readonly db: StateDatabase;
  /** By name, `<store>.<method>`. */
  readonly decisions: ReadonlyMap<string, WriterDecision>;
  /** Its time is saved with writes, and at longer intervals without them. */
  readonly clock: StateClock;
  readonly nowMs?: () => number;
}

/**
 * The only writer of a state database. It runs waiting calls in one transaction in order of arrival, because a commit costs more than
 * most calls. It syncs the commit to disk if any of the calls requires that.
 *
 * While another connection has locked the database, calls wait without blocking the thread. A call whose deadline passes before its
 * transaction is dropped, because its caller has stopped waiting.
 */
export class StateWriter {
  readonly #options: StateWriterOptions;
  #waiting: Waiting[] = [];
  #isScheduled = false;
  #savedSecs = 0;
  #stalledSinceMs: number | undefined;
  #commits = 0;
  #committedCalls = 0;
  #expiredCalls = 0;
  #lastSuccessAtMs: number | null = null;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(options: StateWriterOptions) {
    this.#options = options;
  }

  /**
   * Runs a write. Resolves to its result after the commit.
   *
   * @param deadlineMs on the clock of `performance.now()`.
   * @throws StateUnavailable if the write did not run; otherwise the error of the write.
   */
  call(call: StateCall, deadlineMs = Number.POSITIVE_INFINITY): Promise<unknown> {
    const name = `${call.store}.${call.method}`;
    const decision = this.#options.decisions.get(name);
    if (!decision) throw new Error(`the state has no write ${name}`);
    const run = () => decision.run(call.args);
    const syncs = decision.isSynced;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ run, syncs, deadlineMs, resolve, reject });
      this.#schedule();
    });
  }

  /** Tests whether the database is writable, and saves the clock if that is due. */
  async probe(): Promise<void> {
    if (this.#waiting.length > 0 || this.#isScheduled) return;
    this.#options.db.retryWrite();
    this.#isScheduled = true;
    await this.#commit([]);
    this.#isScheduled = false;
    if (this.#waiting.length > 0) this.#schedule();
  }

  stats(): StateWriterStats {
    const fault = this.#options.db.writeFault;
    return {
      waiting: this.#waiting.length,
      commits: this.#commits,
      committedCalls: this.#committedCalls,
      expiredCalls: this.#expiredCalls,
      stalledMs: this.#stalledSinceMs === undefined ? 0 : performance.now() - this.#stalledSinceMs,
      lastSuccessAtMs: this.#lastSuccessAtMs,
      failure: fault === undefined || fault.fault === "busy" ? null : fault.reason,
    };
  }

  /** Resolves when no calls wait. */
  drain(): Promise<void> {
    if (this.#waiting.length === 0) return Promise.resolve();
    this.#idle ??= Promise.withResolvers();
    return this.#idle.promise;
  }

  #schedule(delayMs?: number): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const work = async () => {
      const retryMs = await this.#commitNext();
      this.#isScheduled = false;
      if (this.#waiting.length > 0) this.#schedule(retryMs);
    };
    if (delayMs === undefined) setImmediate(work);
    else setTimeout(work, delayMs);
  }

  /** Commits the next group. Returns how long to wait before the one after it, if necessary. */
  async #commitNext(): Promise<number | undefined> {
    this.#dropExpired();
    const group = this.#waiting.splice(0, MAX_GROUP_CALLS);
    const isLocked = group.length > 0 && (await this.#commit(group)) === "locked";
    if (isLocked) this.#waiting.unshift(...group);
    if (this.#waiting.length === 0) {
      this.#idle?.resolve();
      this.#idle = undefined;
    }
    return isLocked ? LOCK_RETRY_MS : undefined;
  }

  #dropExpired(): void {
    const nowMs = performance.now();
    if (this.#waiting.every(({ deadlineMs }) => deadlineMs > nowMs)) return;
    const expired = this.#waiting.filter(({ deadlineMs }) => deadlineMs <= nowMs);
    this.#waiting = this.#waiting.filter(({ deadlineMs }) => deadlineMs > nowMs);
    this.#expiredCalls += expired.length;
    for (const { reject } of expired) reject(new StateUnavailable("the state database is locked or busy"));
  }

  /** Runs a group of calls in one transaction. Returns `locked`, without having done anything, if another connection is writing. */
  async #commit(group: readonly Waiting[]): Promise<"done" | "locked"> {
    const { db } = this.#options;
    let results: unknown[];
    try {
      db.syncCommits(group.some(({ syncs }) => syncs));
      results = await db.transactionOf(async () => {
        this.#saveClock(group.length === 0 ? SAVE_IDLE_SECS : SAVE_SECS);
        const results: unknown[] = [];
        for (const { run } of group) results.push(await run());
        return results;
      });
    } catch (cause) {
      if (isLock(cause)) {
        this.#stalledSinceMs ??= performance.now();
        return "locked";
      }
      if (!isOfDatabase(cause)) await this.#commitOneByOne(group);
      else for (const { reject } of group) reject(unavailable(cause));
      return "done";
    }
    this.#noteSuccess(group.length);
    for (const [at, { resolve }] of group.entries()) resolve(results[at]);
    return "done";
  }

  /** Runs each call in its own transaction after one call rolled back the group, so that only that call fails. */
  async #commitOneByOne(group: readonly Waiting[]): Promise<void> {
    const { db } = this.#options;
    for (const { run, resolve, reject } of group) {
      try {
        resolve(await db.transactionOf(run));
        this.#noteSuccess(1);
      } catch (cause) {
        reject(isOfDatabase(cause) ? unavailable(cause) : cause);
      }
    }
  }

  #saveClock(afterSecs: number): void {
    const { db, clock } = this.#options;
    const nowSecs = stateSecs(clock);
    if (nowSecs - this.#savedSecs < afterSecs) return;
    saveClock(db, nowSecs);
    this.#savedSecs = nowSecs;
  }

  #noteSuccess(calls: number): void {
    this.#stalledSinceMs = undefined;
    if (calls === 0) return;
    this.#commits += 1;
    this.#committedCalls += calls;
    this.#lastSuccessAtMs = this.#options.nowMs?.() ?? Date.now();
  }
}

/** Reports whether the database failed, for example because the disk is full, rather than the call. */
function isOfDatabase(cause: unknown): boolean {
  return cause instanceof StorageError && cause.fault !== "other";
}

function isLock(cause: unknown): boolean {
  return cause instanceof StorageError && cause.fault === "busy";
}

/** Reports whether the transaction is certainly undone. After an I/O error its commit may still reach the disk. */
function isUndone(cause: unknown): boolean {
  return cause instanceof StorageError && UNDONE.has(cause.fault);
}

function unavailable(cause: unknown): StateUnavailable {
  // The cause is for the log on another thread; the message for clients does not contain the file name.
  return new StateUnavailable(`the state cannot be written: ${reasonOf(cause)}`, {
    cause,
    mayHaveHappened: !isUndone(cause),
    isStorageFault: true,
  });
}
