import { hash } from "node:crypto";

const FID_BYTES = 4;

/** Returns the shard of an fid in a network of `shards` shards, from 1 on, as the reference node computes it. */
export function shardOfFid(fid: number, shards: number): number {
  const bytes = Buffer.alloc(FID_BYTES);
  bytes.writeUInt32BE(fid % 2 ** 32);
  return (hash("sha256", bytes, "buffer").readUInt32BE(0) % shards) + 1;
}
