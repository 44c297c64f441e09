import { StorageError } from "../../db/sqlite/storage-error.ts";
import type { StateDatabase } from "../../db/state/database.ts";
import { saveClock } from "../../db/state/saved-clock.ts";
import { type StateClock, stateSecs } from "../../db/state/state-clock.ts";
import type { StateCall } from "../../db/state/store-writes.ts";
import type { SweepDecision } from "../../db/state/sweep.ts";
import { StateUnavailable } from "../../db/state/unavailable.ts";
import { reasonOf } from "../../lib/failure.ts";
import type { AllDecisions } from "./sqlite-stores.ts";
import type { SweepName } from "./sweeps.ts";

/** A transaction holds so many calls at most, so that it stays short. */
const MAX_GROUP_CALLS = 256;
/** How often the state's clock is saved while something is written, and while nothing is. */
const SAVE_SECS = 10;
const SAVE_IDLE_SECS = 60;
/** How soon the writer tries again while somebody else holds the lock of the database. */
const LOCK_RETRY_MS = 10;

/**
 * Writes that a power failure may undo, so that they need not wait for the disk: what they undo is done again (a delivery
 * is made again under its id, a batch is sent again under its notification id, a sweep sweeps again).
 */
const UNSYNCED: ReadonlySet<string> = new Set([
  "tokens.deleteHeld",
  "ledger.claim",
  "ledger.settle",
  "ledger.countNotAttempted",
  "queue.recover",
  "queue.claim",
  "queue.settle",
  "queue.release",
]);

interface Waiting {
  readonly decide: () => unknown;
  readonly syncs: boolean;
  readonly deadlineMs: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (cause: unknown) => void;
}

/** What the writer says of itself. */
export interface StateWriterStats {
  /** Calls that wait for their transaction. */
  readonly waiting: number;
  readonly commits: number;
  readonly committedCalls: number;
  /** Calls that were given up because their callers had stopped waiting. */
  readonly expiredCalls: number;
  /** For how long another connection has held the lock of the database, ms; 0 while nobody does. */
  readonly stalledMs: number;
  /** Unix ms of the last transaction; null before the first. */
  readonly lastSuccessAtMs: number | null;
  /** Why the last write failed, such as a full disk; null once one has succeeded. */
  readonly failure: string | null;
}

export interface StateWriterOptions {
  readonly db: StateDatabase;
  readonly decisions: AllDecisions;
  readonly sweeps: Readonly<Record<SweepName, SweepDecision>>;
  /** Saved with what is written, and from time to time. */
  readonly clock: StateClock;
  readonly nowMs?: () => number;
}

/**
 * The one writer of a state database. Calls that wait are carried out in one transaction, in the order in which they came,
 * because a commit costs more than most of them; it is synced to the disk if any of them asks for that.
 *
 * While another connection holds the lock of the database, calls wait without blocking the thread. A call whose deadline
 * has passed before its turn is not carried out, because its caller has stopped waiting.
 */
export class StateWriter {
  readonly #options: StateWriterOptions;
  /** By store and method. */
  readonly #methods: object;
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
    this.#methods = { ...options.decisions, sweeps: options.sweeps };
  }

  /**
   * Carries a call out; resolves with its result when it is committed.
   *
   * @param deadlineMs on the clock of `performance.now()`.
   * @throws StateUnavailable when the call was not carried out; else the fault of the call.
   */
  call(call: StateCall, deadlineMs = Number.POSITIVE_INFINITY): Promise<unknown> {
    const decide = this.#decisionOf(call);
    const syncs = !UNSYNCED.has(`${call.store}.${call.method}`) && call.store !== "sweeps";
    return new Promise((resolve, reject) => {
      this.#waiting.push({ decide, syncs, deadlineMs, resolve, reject });
      this.#schedule();
    });
  }

  /** Finds out whether the database can be written, and saves the clock where it was not saved for a while. */
  probe(): void {
    if (this.#waiting.length > 0 || this.#isScheduled) return;
    this.#options.db.retryWrite();
    this.#commit([]);
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

  /** Resolves when nothing waits any more. */
  drain(): Promise<void> {
    if (this.#waiting.length === 0) return Promise.resolve();
    this.#idle ??= Promise.withResolvers();
    return this.#idle.promise;
  }

  #decisionOf({ store, method, args }: StateCall): () => unknown {
    const methods = ownValue(this.#methods, store);
    const decision = typeof methods === "object" && methods !== null ? ownValue(methods, method) : undefined;
    if (typeof decision !== "function") throw new Error(`the state has no write ${store}.${method}`);
    return () => decision(...args);
  }

  #schedule(delayMs?: number): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const work = () => {
      this.#isScheduled = false;
      this.#commitNext();
    };
    if (delayMs === undefined) setImmediate(work);
    else setTimeout(work, delayMs);
  }

  #commitNext(): void {
    this.#dropExpired();
    const group = this.#waiting.splice(0, MAX_GROUP_CALLS);
    const isLocked = group.length > 0 && this.#commit(group) === "locked";
    if (isLocked) this.#waiting.unshift(...group);
    if (this.#waiting.length > 0) this.#schedule(isLocked ? LOCK_RETRY_MS : undefined);
    else {
      this.#idle?.resolve();
      this.#idle = undefined;
    }
  }

  #dropExpired(): void {
    const nowMs = performance.now();
    if (this.#waiting.every(({ deadlineMs }) => deadlineMs > nowMs)) return;
    const expired = this.#waiting.filter(({ deadlineMs }) => deadlineMs <= nowMs);
    this.#waiting = this.#waiting.filter(({ deadlineMs }) => deadlineMs > nowMs);
    this.#expiredCalls += expired.length;
    for (const { reject } of expired) reject(new StateUnavailable("the state database is locked or busy"));
  }

  /** Carries a group out in one transaction. `locked`: nothing was done, because another connection is writing. */
  #commit(group: readonly Waiting[]): "done" | "locked" {
    const { db } = this.#options;
    let results: unknown[];
    try {
      db.syncCommits(group.some(({ syncs }) => syncs));
      results = db.transaction(() => {
        this.#saveClock(group.length === 0 ? SAVE_IDLE_SECS : SAVE_SECS);
        return group.map(({ decide }) => decide());
      });
    } catch (cause) {
      if (isLock(cause)) {
        this.#stalledSinceMs ??= performance.now();
        return "locked";
      }
      if (!isOfDatabase(cause)) this.#commitOneByOne(group);
      else for (const { reject } of group) reject(unavailable(cause));
      return "done";
    }
    this.#noteSuccess(group.length);
    for (const [at, { resolve }] of group.entries()) resolve(results[at]);
    return "done";
  }

  /** All of a group was rolled back because of one call. One by one, only that call fails. */
  #commitOneByOne(group: readonly Waiting[]): void {
    const { db } = this.#options;
    for (const { decide, resolve, reject } of group) {
      try {
        resolve(db.transaction(decide));
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

function ownValue(object: object, key: string): unknown {
  return Object.hasOwn(object, key) ? (object as Readonly<Record<string, unknown>>)[key] : undefined;
}

/** Whether a fault is the database's and not the call's, such as a full disk. */
function isOfDatabase(cause: unknown): boolean {
  return cause instanceof StorageError && cause.fault !== "other";
}

function isLock(cause: unknown): boolean {
  return cause instanceof StorageError && cause.fault === "busy";
}

function unavailable(cause: unknown): StateUnavailable {
  // For the log, which reads it on another thread; what a client is told does not name the file.
  return new StateUnavailable(`the state cannot be written: ${reasonOf(cause)}`, { cause });
}
