import { Store } from "../../../protocol/merge-rules.ts";
import { LIMITED_STORES, rentExpiresAt, storageLimits, usableUnits } from "../../../protocol/storage.ts";
import type { StorageState } from "../../queries/users/storage.ts";

/** More rents than this are counted but not listed, the oldest left out. */
export const MAX_LISTED_RENTS = 1000;

/**
 * What an fid rented, in chain order, expired rents too, and the units that it can use now: those that have not
 * expired, without what it lends and with what it borrows.
 */
export function presentAllocations({ fid, holdings }: StorageState, nowSecs: number) {
  const usable = Object.values(usableUnits(holdings, nowSecs));
  return {
    total_active_units: usable.reduce((sum, units) => sum + units, 0),
    allocations: holdings.rents.slice(-MAX_LISTED_RENTS).map(({ units, rentedAt }) => ({
      object: "storage_allocation" as const,
      fid,
      units,
      expiry: rentExpiresAt(rentedAt),
      timestamp: rentedAt,
    })),
  };
}

export type StorageAllocations = ReturnType<typeof presentAllocations>;

/** The stores that the interface names stand first, the others behind them. */
const FIRST_STORES: readonly Store[] = [Store.Casts, Store.Reactions, Store.Links, Store.Verifications];

const STORES_IN_ORDER = LIMITED_STORES.toSorted(([a], [b]) => positionOf(a) - positionOf(b));

function positionOf(store: Store): number {
  const place = FIRST_STORES.indexOf(store);
  return place === -1 ? FIRST_STORES.length : place;
}

/** How many messages an fid has in each store, and how many it may have. */
export function presentStorageUsage({ holdings, used }: StorageState, nowSecs: number) {
  const { limits } = storageLimits(holdings, nowSecs);
  return {
    object: "storage_usage" as const,
    units: STORES_IN_ORDER.map(([store, name]) => ({
      store_type: name,
      used: used.get(store) ?? 0,
      capacity: limits.get(store) ?? 0,
    })),
  };
}

export type StorageUsage = ReturnType<typeof presentStorageUsage>;
