import type { IndexDatabase } from "./database.ts";
import { statement } from "./statement.ts";

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

/** Store numbers are smaller than this. */
const STORES = 128;

/** The numbers of live messages of fids by store. Changes of one transaction are written at its end, in order of keys. */
export class StoreCounts {
  readonly #db: IndexDatabase;
  readonly #counts = new Map<number, { used: number; isChanged: boolean }>();

  constructor(db: IndexDatabase) {
    this.#db = db;
  }

  get(fid: number, store: number): number {
    return this.#entry(fid, store).used;
  }

  add(fid: number, store: number, by: number): void {
    const entry = this.#entry(fid, store);
    entry.used += by;
    entry.isChanged = true;
  }

  /** Discards the changes of a transaction that was rolled back. */
  clear(): void {
    this.#counts.clear();
  }

  flush(): void {
    for (const [key, { used, isChanged }] of [...this.#counts].sort(([a], [b]) => a - b)) {
      if (!isChanged) continue;
      const store = key % STORES;
      const fid = (key - store) / STORES;
      if (used === 0) this.#db.run(dropUnused, fid, store);
      else this.#db.run(putUsed, fid, store, used);
    }
    this.#counts.clear();
  }

  #entry(fid: number, store: number): { used: number; isChanged: boolean } {
    const key = fid * STORES + store;
    let entry = this.#counts.get(key);
    if (!entry) {
      entry = { used: this.#db.get(usedOf, fid, store)?.used ?? 0, isChanged: false };
      this.#counts.set(key, entry);
    }
    return entry;
  }
}
