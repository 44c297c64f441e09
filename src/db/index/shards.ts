import { shardOfFid } from "../../protocol/shard.ts";
import type { IndexDatabase } from "./database.ts";
import { statement } from "./statement.ts";

const shards = statement<{ value: string }>("shards.get", "SELECT value FROM meta WHERE key = 'shards'");
const putShards = statement<unknown, [value: string]>(
  "shards.put",
  "INSERT INTO meta (key, value) VALUES ('shards', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1",
);

const MAX_CACHED_FIDS = 100_000;

/** The number of shards by which the index counts its totals: that of the followed network, 1 for a node of its own. */
export function shardCount(db: IndexDatabase): number {
  return Number(db.get(shards)?.value ?? 1);
}

/** Sets the number of shards. The index must be empty. */
export function setShardCount(db: IndexDatabase, count: number): void {
  db.run(putShards, String(count));
}

/** Returns a function that gives the shard of an fid, with a cache. It reads the number of shards on its first call. */
export function createShardOf(db: IndexDatabase): (fid: number) => number {
  const cached = new Map<number, number>();
  let count: number | undefined;
  return (fid) => {
    count ??= shardCount(db);
    if (count === 1) return 1;
    let shard = cached.get(fid);
    if (shard === undefined) {
      if (cached.size >= MAX_CACHED_FIDS) cached.clear();
      shard = shardOfFid(fid, count);
      cached.set(fid, shard);
    }
    return shard;
  };
}
