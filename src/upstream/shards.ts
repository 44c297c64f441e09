import { createHash } from "node:crypto";

/** The shard of the block chain. It decides storage lends and gasless keys, and has no hub events. */
export const BLOCK_SHARD = 0;

/** Returns the data shard, from 1 on, that decides the messages of an fid. */
export function shardOf(fid: number, shards: number): number {
  const bytes = Buffer.alloc(4);
  // The network itself truncates an fid to 32 bits here.
  bytes.writeUInt32BE(fid % 2 ** 32);
  return (createHash("sha256").update(bytes).digest().readUInt32BE() % shards) + 1;
}

const BLOCK_UNIT = 2 ** 14;

/** Returns the block of a hub event by the event's id. */
export function blockOfEvent(id: number): number {
  return Math.floor(id / BLOCK_UNIT);
}

/** Returns the least id that an event of a block can have. */
export function firstEventId(block: number): number {
  return block * BLOCK_UNIT;
}
