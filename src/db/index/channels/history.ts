import type { OnChainEvent } from "../../../protocol/wire/generated/on-chain.ts";
import type { IndexDatabase } from "../database.ts";
import { dropPositions, getPosition, type PositionUpdate, positionKeys, putPosition } from "../positions.ts";
import { statement } from "../statement.ts";

/**
 * Records which blocks of shard 0 this index has its channels from: those it applied live, and how far the earlier ones have
 * been read.
 */

const FROM = "channels followed from";
const HISTORY = "channels history ";
const NEXT = `${HISTORY}next`;
const DONE = `${HISTORY}done`;
/** Followed by the position of an event of the registry. */
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

/** Progress of reading the channel decisions that shard 0 made before this index followed it. */
export interface ChannelHistory {
  /** The first block of shard 0 that was applied live; undefined before that. */
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

/** Reports whether channel decisions from before this index followed shard 0 have yet to be read. */
export function isChannelHistoryDue(db: IndexDatabase): boolean {
  const { followedFrom, isDone } = channelHistoryOf(db);
  return followedFrom !== undefined && !isDone;
}

export const followedFromPosition = (block: number): PositionUpdate => ({ key: FROM, position: block });
export const historyNextPosition = (block: number): PositionUpdate => ({ key: NEXT, position: block });
export const HISTORY_DONE: PositionUpdate = { key: DONE, position: 1 };

/**
 * Lets every decision read from now on replace the stored one, because event numbers of different upstreams cannot be
 * compared. Runs in a write transaction.
 */
export function forgetDecisions(db: IndexDatabase): void {
  db.run(forgetSlots);
  db.run(forgetClaims);
  dropPositions(db, FROM);
  dropPositions(db, HISTORY);
}

/** Marks a channel to be read again because the upstream reported it with values that no channel can have. */
export const leftOutPosition = (channelId: Uint8Array): PositionUpdate => ({
  key: `${LEFT_OUT}${channelId.toHex()}`,
  position: 1,
});

/** Returns the ids, in hex, of the channels that must be read again. */
export function channelsLeftOut(db: IndexDatabase): string[] {
  return positionKeys(db, LEFT_OUT).map((key) => key.slice(LEFT_OUT.length));
}

export function noteChannelRead(db: IndexDatabase, channelId: Uint8Array): void {
  dropPositions(db, leftOutPosition(channelId).key);
}

type EventPlace = Pick<OnChainEvent, "blockNumber" | "logIndex">;

const keyOfEvent = ({ blockNumber, logIndex }: EventPlace) => `${EVENT}${blockNumber} ${logIndex}`;

/**
 * Stores the number of the first decision about an event of the registry. Until the history has been read, events are not
 * stored in that order.
 */
export function noteDecidedEvent(db: IndexDatabase, event: EventPlace, seqnum: number): void {
  putPosition(db, keyOfEvent(event), Math.min(seqnum, seqnumOfEvent(db, event) ?? seqnum));
}

/** Returns the number of the decision about an event of the registry, if it is stored. */
export function seqnumOfEvent(db: IndexDatabase, event: EventPlace): number | undefined {
  return getPosition(db, keyOfEvent(event));
}

export function dropDecidedEvents(db: IndexDatabase): void {
  dropPositions(db, EVENT);
}
