import type { OnChainEvent } from "../../../protocol/wire/generated/on-chain.ts";
import type { IndexDatabase } from "../database.ts";
import { dropPositions, getPosition, type PositionUpdate, positionKeys, putPosition } from "../positions.ts";
import { statement } from "../statement.ts";

/**
 * How far the channels of this index come from shard 0: which of its blocks were applied live, and how far those before
 * them have been read.
 */

const FROM = "channels followed from";
const HISTORY = "channels history ";
const NEXT = `${HISTORY}next`;
const DONE = `${HISTORY}done`;
/** Followed by the place of an event of the registry. */
const EVENT = `${HISTORY}event `;
/** Followed by the id of a channel. */
const LEFT_OUT = `${HISTORY}left out `;

const forgetSlots = statement(
  "channel-history.forget-slots",
  "UPDATE channel_slots SET seqnum = -1 WHERE channel_id >= x''",
);
const forgetClaims = statement(
  "channel-history.forget-claims",
  "UPDATE owner_claims SET seqnum = -1 WHERE fid >= 0",
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
  dropPositions(db, FROM);
  dropPositions(db, HISTORY);
}

/** Notes that the upstream reported a channel with values that no channel has: it is read again. */
export const leftOutPosition = (channelId: Uint8Array): PositionUpdate => ({
  key: `${LEFT_OUT}${channelId.toHex()}`,
  position: 1,
});

/** Returns the ids in hex of the channels that are to be read again. */
export function channelsLeftOut(db: IndexDatabase): string[] {
  return positionKeys(db, LEFT_OUT).map((key) => key.slice(LEFT_OUT.length));
}

export function noteChannelRead(db: IndexDatabase, channelId: Uint8Array): void {
  dropPositions(db, leftOutPosition(channelId).key);
}

type EventPlace = Pick<OnChainEvent, "blockNumber" | "logIndex">;

const keyOfEvent = ({ blockNumber, logIndex }: EventPlace) => `${EVENT}${blockNumber} ${logIndex}`;

/**
 * Keeps the number of the first decision about an event of the registry: until the history is read, events are not stored in that order.
 */
export function noteDecidedEvent(db: IndexDatabase, event: EventPlace, seqnum: number): void {
  putPosition(db, keyOfEvent(event), Math.min(seqnum, seqnumOfEvent(db, event) ?? seqnum));
}

/** Returns the number of the decision about an event of the registry, if it is kept. */
export function seqnumOfEvent(db: IndexDatabase, event: EventPlace): number | undefined {
  return getPosition(db, keyOfEvent(event));
}

export function dropDecidedEvents(db: IndexDatabase): void {
  dropPositions(db, EVENT);
}
