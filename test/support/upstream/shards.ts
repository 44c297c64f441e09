import { createHash } from "node:crypto";

/** The data shards of the scripted network; shard 0 is not one. */
export const DATA_SHARDS = [1, 2] as const;

/** Returns the data shard of an fid. */
export function shardOf(fid: number): number {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(fid);
  return (createHash("sha256").update(bytes).digest().readUInt32BE() % DATA_SHARDS.length) + 1;
}
