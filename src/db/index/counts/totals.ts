import { shardOfFid } from "../../../protocol/network/shard.ts";
import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";

const addTotal = statement<unknown, [name: string, shard: number, by: number]>(
  "totals.add",
  `INSERT INTO totals (name, shard, count) VALUES (?1, ?2, ?3)
   ON CONFLICT (name, shard) DO UPDATE SET count = count + ?3`,
);
const allTotals = statement<{ name: string; shard: number; count: number }>(
  "totals.all",
  "SELECT name, shard, count FROM totals",
);

/** Kinds of row. `casts`, `reactions` and `links` count live adds; `messages` also counts removes. */
export type TotalName = "messages" | "on_chain_events" | "fids" | "casts" | "reactions" | "links";

/** Changes of the totals during one transaction, written at its end. */
export class TotalsDelta {
  readonly #shardOf: (fid: number) => number;
  readonly #changes = new Map<TotalName, Map<number, number>>();

  constructor(db: IndexDatabase) {
    this.#shardOf = createShardOf(db);
  }

  /** Counts rows of an fid. */
  add(name: TotalName, fid: number, by: number): void {
    const shard = this.#shardOf(fid);
    let changes = this.#changes.get(name);
    if (!changes) {
      changes = new Map();
      this.#changes.set(name, changes);
    }
    changes.set(shard, (changes.get(shard) ?? 0) + by);
  }

  /** Discards the changes of a transaction that was rolled back. */
  clear(): void {
    this.#changes.clear();
  }

  /** Writes the changes. Call it last in the transaction. */
  flush(db: IndexDatabase): void {
    for (const [name, shards] of this.#changes)
      for (const [shard, by] of shards) if (by !== 0) db.run(addTotal, name, shard, by);
    this.#changes.clear();
  }
}

/** Returns the totals of the whole index. */
export function readTotals(db: IndexDatabase): Record<TotalName, number> {
  const totals = emptyTotals();
  for (const { name, count } of db.all(allTotals)) if (name in totals) totals[name as TotalName] += count;
  return totals;
}

/** Returns the totals of each shard that has rows. */
export function readShardTotals(db: IndexDatabase): Map<number, Record<TotalName, number>> {
  const shards = new Map<number, Record<TotalName, number>>();
  for (const { name, shard, count } of db.all(allTotals)) {
    const totals = shards.get(shard) ?? emptyTotals();
    if (name in totals) totals[name as TotalName] += count;
    shards.set(shard, totals);
  }
  return shards;
}

function emptyTotals(): Record<TotalName, number> {
  return { messages: 0, on_chain_events: 0, fids: 0, casts: 0, reactions: 0, links: 0 };
}

const shards = statement<{ value: string }>("shards.get", "SELECT value FROM meta WHERE key = 'shards'");
const putShards = statement<unknown, [value: string]>(
  "shards.put",
  "INSERT INTO meta (key, value) VALUES ('shards', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1",
);

const MAX_CACHED_FIDS = 100_000;

/**
 * Returns the number of shards by which the index counts its totals: that of the followed network, or 1 for a standalone
 * node.
 */
export function shardCount(db: IndexDatabase): number {
  return Number(db.get(shards)?.value ?? 1);
}

/** Sets the number of shards. The index must be empty. */
export function setShardCount(db: IndexDatabase, count: number): void {
  db.run(putShards, String(count));
}

/** Returns a function that maps an fid to its shard, with a cache. It reads the number of shards on its first call. */
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
