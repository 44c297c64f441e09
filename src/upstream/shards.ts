/** The shard of the block chain. It decides storage lends and gasless keys, and has no hub events. */
export const BLOCK_SHARD = 0;

const BLOCK_UNIT = 2 ** 14;

/** Returns the block of a hub event by the event's id. */
export function blockOfEvent(id: number): number {
  return Math.floor(id / BLOCK_UNIT);
}

/** Returns the least id that an event of a block can have. */
export function firstEventId(block: number): number {
  return block * BLOCK_UNIT;
}
