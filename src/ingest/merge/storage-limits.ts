import type { IndexDatabase } from "../../db/index/database.ts";
import { lendsOf, onChainEventsOf } from "../../db/index/project/on-chain.ts";
import type { Store } from "../../protocol/message/merge-rules.ts";
import {
  type Rent,
  type StorageHoldings,
  type StorageLimits,
  storageLimits,
} from "../../protocol/storage.ts";
import { OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";

const MAX_CACHED_FIDS = 50_000;

/** A cache of the storage limits of fids. They are computed from rents and lends, and valid until the next rent expires. */
export class StorageLimitCache {
  readonly #cached = new Map<number, StorageLimits>();

  readonly #db: IndexDatabase;

  constructor(db: IndexDatabase) {
    this.#db = db;
  }

  limit(fid: number, store: Store, nowSecs: number): number {
    return this.#limitsOf(fid, nowSecs).limits.get(store) ?? Number.POSITIVE_INFINITY;
  }

  /** Invalidates an fid whose rents or lends changed. */
  invalidate(fid: number): void {
    this.#cached.delete(fid);
  }

  clear(): void {
    this.#cached.clear();
  }

  #limitsOf(fid: number, nowSecs: number): StorageLimits {
    const cached = this.#cached.get(fid);
    if (cached && nowSecs < cached.validUntilSecs) return cached;
    if (this.#cached.size >= MAX_CACHED_FIDS) this.#cached.clear();
    const fresh = storageLimits(holdingsOf(this.#db, fid), nowSecs);
    this.#cached.set(fid, fresh);
    return fresh;
  }
}

/** Returns what an fid has rented, lends and borrows. */
export function holdingsOf(db: IndexDatabase, fid: number): StorageHoldings {
  return { rents: rentsOf(db, fid), ...lendsOf(db, fid) };
}

export function rentsOf(db: IndexDatabase, fid: number): Rent[] {
  const rents: Rent[] = [];
  for (const event of onChainEventsOf(db, OnChainEventType.EVENT_TYPE_STORAGE_RENT, fid)) {
    if (event.body?.$case === "storageRentEventBody")
      rents.push({ units: event.body.value.units, rentedAt: event.blockTimestamp });
  }
  return rents;
}
