import { Store } from "../../../protocol/message/merge-rules.ts";
import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";

const usedOf = statement<{ used: number }, [fid: number, store: number]>(
  "store-counts.used",
  "SELECT used FROM store_counts WHERE fid = ? AND store = ?",
);
const putUsed = statement<unknown, [fid: number, store: number, used: number]>(
  "store-counts.put",
  `INSERT INTO store_counts (fid, store, used) VALUES (?1, ?2, ?3)
   ON CONFLICT (fid, store) DO UPDATE SET used = ?3`,
);
const dropUnused = statement<unknown, [fid: number, store: number]>(
  "store-counts.drop",
  "DELETE FROM store_counts WHERE fid = ? AND store = ?",
);

const countsFrom = statement<{ fid: number; used: number }, [fid: number]>(
  "store-counts.from",
  "SELECT fid, used FROM store_counts WHERE fid > ? ORDER BY fid",
);

const castsOf = statement<{ n: number }, [fid: number]>(
  "store-counts.casts",
  "SELECT count(*) AS n FROM casts WHERE fid = ?",
);
const reactionsOf = statement<{ n: number }, [fid: number]>(
  "store-counts.reactions",
  "SELECT count(*) AS n FROM reactions WHERE fid = ?",
);
const linksOf = statement<{ n: number }, [fid: number]>(
  "store-counts.links",
  "SELECT count(*) AS n FROM links WHERE fid = ?",
);
const userDataOf = statement<{ n: number }, [fid: number]>(
  "store-counts.user-data",
  "SELECT count(*) AS n FROM user_data WHERE fid = ?",
);
const othersOf = statement<{ n: number }, [fid: number, store: number]>(
  "store-counts.others",
  "SELECT count(*) AS n FROM messages WHERE fid = ? AND store = ?",
);
const gaslessKeysOf = statement<{ n: number }, [fid: number]>(
  "store-counts.gasless-keys",
  "SELECT count(*) AS n FROM gasless_keys WHERE fid = ?",
);
const OF_OWN_TABLE: Partial<Record<Store, typeof castsOf>> = {
  [Store.Casts]: castsOf,
  [Store.Reactions]: reactionsOf,
  [Store.Links]: linksOf,
  [Store.UserData]: userDataOf,
};

/**
 * Returns how many messages of an fid the tables have in a store. It is less than the stored count if the disk has lost
 * rows.
 */
export function countRows(db: IndexDatabase, fid: number, store: Store): number {
  const own = OF_OWN_TABLE[store];
  return ((own && db.get(own, fid)?.n) ?? 0) + (db.get(othersOf, fid, store)?.n ?? 0);
}

/** Returns how many gasless keys an fid has, including expired ones. Keys from an upstream have no countable message. */
export function countGaslessKeys(db: IndexDatabase, fid: number): number {
  return db.get(gaslessKeysOf, fid)?.n ?? 0;
}

/** Store numbers are smaller than this. */
const STORES = 128;

const MAX_CACHED = 50_000;

/**
 * The numbers of live messages of fids by store, with a cache. Changes of a transaction are written at its end, in order of
 * keys.
 */
export class StoreCounts {
  readonly #db: IndexDatabase;
  /** By fid and store. */
  readonly #counts = new Map<number, number>();
  readonly #changed = new Set<number>();

  constructor(db: IndexDatabase) {
    this.#db = db;
  }

  get(fid: number, store: number): number {
    const key = fid * STORES + store;
    let used = this.#counts.get(key);
    if (used === undefined) {
      used = this.#db.get(usedOf, fid, store)?.used ?? 0;
      this.#counts.set(key, used);
    }
    return used;
  }

  add(fid: number, store: number, by: number): void {
    const key = fid * STORES + store;
    this.#counts.set(key, this.get(fid, store) + by);
    this.#changed.add(key);
  }

  /** Discards what was read and changed, because a transaction was rolled back or another connection has written. */
  clear(): void {
    this.#counts.clear();
    this.#changed.clear();
  }

  flush(): void {
    for (const key of [...this.#changed].sort((a, b) => a - b)) {
      const used = this.#counts.get(key) ?? 0;
      const store = key % STORES;
      const fid = (key - store) / STORES;
      if (used === 0) this.#db.run(dropUnused, fid, store);
      else this.#db.run(putUsed, fid, store, used);
    }
    this.#changed.clear();
    if (this.#counts.size > MAX_CACHED) this.#counts.clear();
  }
}

/** Returns the share of the index's messages that these fids have; 1 if there are no messages. */
export function shareOfFids(db: IndexDatabase, fids: ReadonlySet<number>): number {
  let all = 0;
  let own = 0;
  for (const { fid, used } of db.iterate(countsFrom, 0)) {
    all += used;
    if (fids.has(fid)) own += used;
  }
  return all === 0 ? 1 : own / all;
}
