import { hash } from "node:crypto";

const FID_BYTES = 4;

/** Returns the data shard, starting at 1, that decides the messages of an fid. */
export function shardOfFid(fid: number, shards: number): number {
  const bytes = Buffer.alloc(FID_BYTES);
  // The network itself truncates an fid to 32 bits here.
  bytes.writeUInt32BE(fid % 2 ** 32);
  return (hash("sha256", bytes, "buffer").readUInt32BE(0) % shards) + 1;
}
