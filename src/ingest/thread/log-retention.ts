import { shardCount } from "../../db/index/counts/totals.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { markEventsMissing } from "../../db/index/log/event-blocks.ts";
import { isHubSweepDue, sweepHubLog } from "../../db/index/log/hub-log.ts";
import { deleteEventsUpTo, lastExpiredEvent, markPublished } from "../../db/index/log/outbox.ts";
import { toFarcasterSecs } from "../../protocol/time.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";

/** Maximum number of events of each log that one commit deletes. */
const SLICE_EVENTS = 1000;
/** Retention of events, in seconds, in an index that has no room. */
const SHORT_SECS = 3600;
/** Every commit invalidates cached responses, so commits that only delete log entries are no more frequent than this. */
export const LOG_COMMIT_INTERVAL_MS = 1000;

/** Ends the life of events: publication from the outbox, and deletion after the retention of their log. */
export type LogRetention = ReturnType<typeof createLogRetention>;

export interface LogRetentionDeps {
  readonly db: IndexDatabase;
  readonly clock: Clock;
  /**
   * How long an event stays in the outbox after it was applied, in seconds. An unpublished event stays until it is
   * published.
   */
  readonly outboxSecs: number;
  /** How long a block stays in the log of hub events after its time, in seconds. */
  readonly hubLogSecs: number;
  readonly sliceEvents?: number;
}

type Ages = Pick<LogRetentionDeps, "outboxSecs" | "hubLogSecs">;

/** The last expired event of the outbox, and the shards whose hub log has blocks older than a time (Farcaster seconds). */
interface Expired {
  readonly event: number | undefined;
  readonly blocksBefore: number;
  readonly shards: readonly number[];
}

export function createLogRetention(deps: LogRetentionDeps) {
  const { db, clock, hubLogSecs, sliceEvents = SLICE_EVENTS } = deps;
  let hasSwept = false;

  /** Returns the next slice of entries older than the given ages. */
  function expiredBy(ages: Ages): Expired {
    const now = nowSecs(clock);
    const event = lastExpiredEvent(db, { appliedBefore: now - ages.outboxSecs, limit: sliceEvents });
    const blocksBefore = toFarcasterSecs(now - ages.hubLogSecs);
    const all = Array.from({ length: shardCount(db) }, (_, at) => at + 1);
    return { event, blocksBefore, shards: all.filter((shard) => isHubSweepDue(db, shard, blocksBefore)) };
  }

  /** Runs in a transaction. */
  function deleteExpired({ event, blocksBefore, shards }: Expired): void {
    if (event !== undefined) {
      markEventsMissing(db, event);
      deleteEventsUpTo(db, event);
    }
    for (const shard of shards) sweepHubLog(db, shard, { before: blocksBefore, maxEvents: sliceEvents });
  }

  /** Returns whether anything was deleted. If there is nothing to delete, there is no commit. */
  function sweepBy(ages: Ages): boolean {
    const expired = expiredBy(ages);
    if (expired.event === undefined && expired.shards.length === 0) return false;
    db.transaction(() => deleteExpired(expired));
    return true;
  }

  return {
    /** Records that all events of the outbox up to `seq` are published, and deletes the next expired ones in the same commit. */
    markPublished(seq: number): void {
      db.transaction(() => {
        markPublished(db, seq);
        deleteExpired(expiredBy(deps));
      });
      hasSwept = true;
    },
    /**
     * Deletes the next expired events, unless `markPublished` did within the last interval. Called every
     * `LOG_COMMIT_INTERVAL_MS`, so that a backlog of expired events is deleted in slices.
     */
    sweep(): void {
      if (!hasSwept) sweepBy(deps);
      hasSwept = false;
    },
    /**
     * Deletes the next events that are older than an hour, in an index without room. Unpublished events stay. Returns
     * whether there were any.
     *
     * @throws StorageError if the database cannot be written.
     */
    shrink: (): boolean =>
      sweepBy({
        outboxSecs: Math.min(deps.outboxSecs, SHORT_SECS),
        hubLogSecs: Math.min(hubLogSecs, SHORT_SECS),
      }),
  };
}
