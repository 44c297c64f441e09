import type { IndexDatabase } from "../database.ts";
import { getPosition, type PositionUpdate } from "../positions.ts";
import { statement } from "../statement.ts";

/**
 * How far the channels of this index come from shard 0: which of its blocks were applied live, and how far those before
 * them have been read.
 */

const FROM = "channels followed from";
const NEXT = "channels history next";
const DONE = "channels history done";

const forgetSlots = statement(
  "channel-history.forget-slots",
  "UPDATE channel_slots SET seqnum = -1 WHERE channel_id >= x''",
);
const forgetClaims = statement(
  "channel-history.forget-claims",
  "UPDATE owner_claims SET seqnum = -1 WHERE fid >= 0",
);
const forgetPositions = statement(
  "channel-history.forget-positions",
  `DELETE FROM positions WHERE key IN ('${FROM}', '${NEXT}', '${DONE}')`,
);

/** The state of reading what shard 0 decided about channels before this index followed it. */
export interface ChannelHistory {
  /** The first block of shard 0 that was applied live; undefined before it. */
  readonly followedFrom: number | undefined;
  /** The next block to read. */
  readonly next: number | undefined;
  readonly isDone: boolean;
}

export function channelHistoryOf(db: IndexDatabase): ChannelHistory {
  return {
    followedFrom: getPosition(db, FROM),
    next: getPosition(db, NEXT),
    isDone: getPosition(db, DONE) === 1,
  };
}

/** Whether decisions about channels that are older than this index's following have still to be read. */
export function isChannelHistoryDue(db: IndexDatabase): boolean {
  const { followedFrom, isDone } = channelHistoryOf(db);
  return followedFrom !== undefined && !isDone;
}

export const followedFromPosition = (block: number): PositionUpdate => ({ key: FROM, position: block });
export const historyNextPosition = (block: number): PositionUpdate => ({ key: NEXT, position: block });
export const HISTORY_DONE: PositionUpdate = { key: DONE, position: 1 };

/**
 * Lets every decision that is read from now on replace what is stored: numbers of events say nothing about those of another upstream.
 * Runs in a write transaction.
 */
export function forgetDecisions(db: IndexDatabase): void {
  db.run(forgetSlots);
  db.run(forgetClaims);
  db.run(forgetPositions);
}
