/** The id of a hub event is `height << 14 | position in the block`. Ids are below 2^53. */
const EVENTS_PER_BLOCK = 2 ** 14;

/** Number of events that a block can have after its confirmation, which has position 0. */
export const MAX_EVENTS_OF_BLOCK = EVENTS_PER_BLOCK - 1;

/** Returns the block of a hub event, from the event's id. */
export function blockOfEvent(id: number): number {
  return Math.floor(id / EVENTS_PER_BLOCK);
}

/** Returns the id of the first event of a block, which is its confirmation. */
export function firstEventId(block: number): number {
  return block * EVENTS_PER_BLOCK;
}
