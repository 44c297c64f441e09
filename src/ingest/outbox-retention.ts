import type { IndexDatabase } from "../db/index/database.ts";
import { deleteEventsUpTo, lastExpiredEvent, markPublished } from "../db/index/outbox.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";

/** Events that one commit deletes at most. */
const SLICE_EVENTS = 1000;
/** Every commit invalidates cached responses, so the commits of the outbox alone come no more often. */
export const OUTBOX_COMMIT_INTERVAL_MS = 1000;

/** The end of an event's life in the outbox: its publication, and its deletion after the retention. */
export interface OutboxRetention {
  /** Records that all events up to `seq` are published, and deletes the next expired ones in the same commit. */
  markPublished(seq: number): void;
  /**
   * Deletes the next expired events, unless `markPublished` did within the last interval. Called every
   * `OUTBOX_COMMIT_INTERVAL_MS`, so that a backlog of expired events is deleted in slices until none is left.
   */
  sweep(): void;
}

export function createOutboxRetention(deps: {
  readonly db: IndexDatabase;
  readonly clock: Clock;
  /** How long an event stays after it was applied. An unpublished one stays until it is published. */
  readonly retentionSecs: number;
  readonly sliceEvents?: number;
}): OutboxRetention {
  const { db, clock, retentionSecs, sliceEvents = SLICE_EVENTS } = deps;
  let hasSwept = false;

  function deleteExpired(): void {
    const expired = lastExpiredEvent(db, {
      appliedBefore: nowSecs(clock) - retentionSecs,
      limit: sliceEvents,
    });
    if (expired !== undefined) deleteEventsUpTo(db, expired);
  }

  return {
    markPublished(seq) {
      db.transaction(() => {
        markPublished(db, seq);
        deleteExpired();
      });
      hasSwept = true;
    },
    sweep() {
      if (!hasSwept) deleteExpired();
      hasSwept = false;
    },
  };
}
