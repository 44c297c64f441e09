import type { IndexDatabase } from "../db/index/database.ts";
import { markEventsMissing } from "../db/index/event-blocks.ts";
import { isHubSweepDue, sweepHubLog } from "../db/index/hub-log.ts";
import { deleteEventsUpTo, lastExpiredEvent, markPublished } from "../db/index/outbox.ts";
import { shardCount } from "../db/index/shards.ts";
import { toFarcasterSecs } from "../protocol/time.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";

/** Events of each log that one commit deletes at most. */
const SLICE_EVENTS = 1000;
/** Every commit invalidates cached responses, so the commits of the logs alone come no more often. */
export const LOG_COMMIT_INTERVAL_MS = 1000;

/** The end of an event's life: its publication from the outbox, and its deletion after the retention of its log. */
export interface LogRetention {
  /** Records that all events of the outbox up to `seq` are published, and deletes the next expired ones in the same commit. */
  markPublished(seq: number): void;
  /**
   * Deletes the next expired events, unless `markPublished` did within the last interval. Called every
   * `LOG_COMMIT_INTERVAL_MS`, so that a backlog of expired events is deleted in slices until none is left.
   */
  sweep(): void;
}

export interface LogRetentionDeps {
  readonly db: IndexDatabase;
  readonly clock: Clock;
  /** How long an event stays in the outbox after it was applied. An unpublished one stays until it is published. */
  readonly outboxSecs: number;
  /** How long a block stays in the log of hub events after its time. */
  readonly hubLogSecs: number;
  readonly sliceEvents?: number;
}

export function createLogRetention(deps: LogRetentionDeps): LogRetention {
  const { db, clock, outboxSecs, hubLogSecs, sliceEvents = SLICE_EVENTS } = deps;
  let hasSwept = false;

  const expiredEvent = () =>
    lastExpiredEvent(db, { appliedBefore: nowSecs(clock) - outboxSecs, limit: sliceEvents });

  function shardsWithExpired(): number[] {
    const before = toFarcasterSecs(nowSecs(clock) - hubLogSecs);
    const shards = Array.from({ length: shardCount(db) }, (_, at) => at + 1);
    return shards.filter((shard) => isHubSweepDue(db, shard, before));
  }

  /** Runs in a transaction. */
  function deleteExpired(expired: number | undefined, shards: readonly number[]): void {
    if (expired !== undefined) {
      markEventsMissing(db, expired);
      deleteEventsUpTo(db, expired);
    }
    const before = toFarcasterSecs(nowSecs(clock) - hubLogSecs);
    for (const shard of shards) sweepHubLog(db, shard, { before, maxEvents: sliceEvents });
  }

  return {
    markPublished(seq) {
      db.transaction(() => {
        markPublished(db, seq);
        deleteExpired(expiredEvent(), shardsWithExpired());
      });
      hasSwept = true;
    },
    sweep() {
      if (!hasSwept) {
        const expired = expiredEvent();
        const shards = shardsWithExpired();
        if (expired !== undefined || shards.length > 0) db.transaction(() => deleteExpired(expired, shards));
      }
      hasSwept = false;
    },
  };
}
