import { cursorCodec } from "../read/cursor.ts";

/**
 * How far a stream has come in the log of events. Positions are exclusive: a stream goes on with the event behind its position.
 */
export interface StreamPosition {
  /** The id of the log, which is that of one index: another index gives its events the same numbers. */
  readonly logId: string;
  readonly seq: number;
  /** By shard the last block of a followed node whose events are all at or before the position. Empty without a followed node. */
  readonly blocks: ShardBlocks;
}

export type ShardBlocks = ReadonlyMap<number, number>;

export const NO_BLOCKS: ShardBlocks = new Map();

const codec = cursorCodec("stream", ["text", "int", "text"]);
const MAX_LOG_ID_CHARS = 64;
/** More shards do not fit into a cursor. */
const MAX_SHARDS = 16;
const BLOCKS = /^\d{1,3}:\d{1,16}(?:,\d{1,3}:\d{1,16})*$/;

/** Returns for each shard of `to` the later block. */
export function laterBlocks(from: ShardBlocks, to: ShardBlocks): ShardBlocks {
  if (from.size === 0) return to;
  const later = new Map(from);
  for (const [shard, block] of to) later.set(shard, Math.max(block, from.get(shard) ?? 0));
  return later;
}

/** Returns the cursor of a position, which clients resume with. */
export function cursorOf({ logId, seq, blocks }: StreamPosition): string {
  const shards = [...blocks].slice(0, MAX_SHARDS).map(([shard, block]) => `${shard}:${block}`);
  return codec.encode([logId, seq, shards.join(",")]);
}

/** Returns the position of a cursor; undefined for any other text. */
export function positionOf(cursor: string): StreamPosition | undefined {
  const key = codec.decode(cursor);
  if (key === undefined) return undefined;
  const [logId, seq, shards] = key;
  if (seq < 0 || logId.length > MAX_LOG_ID_CHARS) return undefined;
  if (shards !== "" && !BLOCKS.test(shards)) return undefined;
  const pairs = shards === "" ? [] : shards.split(",").map((pair) => pair.split(":").map(Number));
  if (pairs.length > MAX_SHARDS) return undefined;
  return { logId, seq, blocks: new Map(pairs.map(([shard = 0, block = 0]) => [shard, block])) };
}
