import type { DeferredSync } from "../../db/index/log/deferred-sync.ts";
import { StorageError } from "../../db/sqlite/storage-error.ts";
import type { Clock } from "../../runtime/clock.ts";
import { createLogThrottle } from "../../runtime/log/log-throttle.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import type { IngestEngine } from "../engine.ts";
import type { IngestRecord, MergeOutcome } from "../record.ts";

/** Limits a commit: enough records to share the sync of the log, few enough for a short wait. */
const MAX_RECORDS_PER_COMMIT = 2000;

interface Submission {
  readonly records: readonly IngestRecord[];
  readonly resolve: (outcomes: MergeOutcome[]) => void;
}

/** Counts since the start of the process. */
export interface IngestStats {
  readonly queuedRecords: number;
  readonly commits: number;
  readonly mergedRecords: number;
  /** By the code of the refusal. */
  readonly refusedRecords: Readonly<Record<string, number>>;
}

/** Group commit: records that are submitted while a commit runs share the next one. */
export class IngestQueue {
  readonly #engine: IngestEngine;
  readonly #deferred: DeferredSync | undefined;
  readonly #refused = new Map<string, number>();
  #waiting: Submission[] = [];
  #queued = 0;
  #commits = 0;
  #merged = 0;
  #scheduled = false;
  #idle: PromiseWithResolvers<void> | undefined;

  /** @param deferred syncs commits while the next ones are merged; without it, each commit is synced before the next. */
  constructor(engine: IngestEngine, deferred?: DeferredSync) {
    this.#engine = engine;
    this.#deferred = deferred;
  }

  /** Resolves with the outcomes, in order, after the records are merged and on disk. */
  submit(records: readonly IngestRecord[]): Promise<MergeOutcome[]> {
    const { promise, resolve } = Promise.withResolvers<MergeOutcome[]>();
    this.#waiting.push({ records, resolve });
    this.#queued += records.length;
    this.#schedule();
    return promise;
  }

  stats(): IngestStats {
    return {
      queuedRecords: this.#queued,
      commits: this.#commits,
      mergedRecords: this.#merged,
      refusedRecords: Object.fromEntries(this.#refused),
    };
  }

  /** Resolves when all submitted records are committed and on disk. */
  async drain(): Promise<void> {
    if (this.#waiting.length > 0) {
      this.#idle ??= Promise.withResolvers<void>();
      await this.#idle.promise;
    }
    await this.#deferred?.synced();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // Waiting for one turn of the event loop lets requests that arrived meanwhile join the commit.
    setImmediate(() => {
      this.#scheduled = false;
      this.#commitWaiting();
      if (this.#waiting.length > 0) return this.#schedule();
      this.#idle?.resolve();
      this.#idle = undefined;
    });
  }

  #commitWaiting(): void {
    const batch: Submission[] = [];
    const records: IngestRecord[] = [];
    for (const submission of this.#waiting) {
      if (records.length > 0 && records.length + submission.records.length > MAX_RECORDS_PER_COMMIT) break;
      batch.push(submission);
      for (const record of submission.records) records.push(record);
    }
    this.#waiting = this.#waiting.slice(batch.length);
    const apply = () => this.#engine.apply(records);
    const outcomes = this.#deferred ? this.#deferred.during(apply) : apply();
    this.#count(outcomes);
    const respond = () => {
      let at = 0;
      for (const { records: own, resolve } of batch) {
        resolve(outcomes.slice(at, at + own.length));
        at += own.length;
      }
    };
    // A duplicate may belong to a commit that is not on disk yet, so refused records wait too.
    if (this.#deferred) void this.#deferred.synced().then(respond);
    else respond();
  }

  #count(outcomes: readonly MergeOutcome[]): void {
    this.#queued -= outcomes.length;
    this.#commits += 1;
    for (const outcome of outcomes) {
      if (outcome) this.#refused.set(outcome.code, (this.#refused.get(outcome.code) ?? 0) + 1);
      else this.#merged += 1;
    }
  }
}

const INTERVAL_MS = 60_000;

/**
 * Creates a log for the writer's faults. While the database cannot be written every commit fails, so these faults are logged
 * at most once a minute. A fault caused by a single record is always logged.
 */
export function createIngestFaultLog({
  log,
  clock,
}: {
  log: Logger;
  clock: Clock;
}): (cause: unknown) => void {
  const throttled = createLogThrottle({ clock, intervalMs: INTERVAL_MS });
  return (cause) => {
    if (cause instanceof StorageError)
      throttled((others) => log.error({ err: cause, ...others }, "The index could not be written"));
    else log.error({ err: cause }, "A record could not be stored");
  };
}
