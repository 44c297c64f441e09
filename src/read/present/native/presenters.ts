import { Store } from "../../../protocol/message/merge-rules.ts";
import { LIMITED_STORES, rentExpiresAt, storageLimits, usableUnits } from "../../../protocol/storage.ts";
import type { StorageState } from "../../queries/users/registry.ts";
import { NO_SUMMARY, type Presenters, plainResponses } from "../presenters.ts";
import { presentCast } from "./cast.ts";
import { presentChannel } from "./channel.ts";
import { presentUser } from "./user.ts";

/** Maximum number of rents that are listed, newest first. All rents are counted. */
const MAX_LISTED_RENTS = 1000;

/**
 * Presents the rents of an fid in chain order, expired ones included, and the units that it can use now: unexpired units,
 * minus those lent, plus those borrowed.
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

/** Stores that the interface lists first; the others follow. */
const FIRST_STORES: readonly Store[] = [Store.Casts, Store.Reactions, Store.Links, Store.Verifications];

const STORES_IN_ORDER = LIMITED_STORES.toSorted(([a], [b]) => positionOf(a) - positionOf(b));

function positionOf(store: Store): number {
  const position = FIRST_STORES.indexOf(store);
  return position === -1 ? FIRST_STORES.length : position;
}

/** Presents the number of messages of an fid in each store, and the store's capacity. */
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

const plain = plainResponses({ user: presentUser, cast: presentCast, channel: presentChannel });

/** The presenters of the native dialect. */
export const nativePresenters = {
  ...plain,
  userSearch: plain.userPage,
  verifications: plain.user,
  followerPage: plain.userPage,
  mutualFollowPage: plain.userPage,
  storageAllocations: (storage, { nowSecs }) => presentAllocations(storage, nowSecs),
  storageUsage: (storage, { nowSecs }) => presentStorageUsage(storage, nowSecs),
  conversationSummary: () => ({ summary: NO_SUMMARY }),
} satisfies Presenters;
