import { isoTime } from "../../../lib/iso-time.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import type { StorageState } from "../../queries/users/storage.ts";
import { presentAllocations, presentStorageUsage } from "../native/storage.ts";
import { presentUserDehydrated } from "./user.ts";

export function presentStorageAllocations(storage: StorageState, hydration: Hydration) {
  const { total_active_units, allocations } = presentAllocations(storage, hydration.nowSecs);
  const user = presentUserDehydrated(storage.fid, hydration);
  return {
    total_active_units,
    allocations: allocations.map(({ object, units, expiry, timestamp }) => ({
      object,
      ...(user && { user }),
      units,
      expiry: isoTime(expiry),
      timestamp: isoTime(timestamp),
    })),
  };
}

/** Presents each store under the name that clients use. */
export function presentUsage(storage: StorageState, hydration: Hydration) {
  const { object, units } = presentStorageUsage(storage, hydration.nowSecs);
  const { total_active_units } = presentAllocations(storage, hydration.nowSecs);
  const user = presentUserDehydrated(storage.fid, hydration);
  const store = (name: (typeof units)[number]["store_type"]) => {
    const { used = 0, capacity = 0 } = units.find(({ store_type }) => store_type === name) ?? {};
    return { object: "storage" as const, used, capacity };
  };
  return {
    object,
    ...(user && { user }),
    total_active_units,
    casts: store("casts"),
    links: store("links"),
    reactions: store("reactions"),
    verified_addresses: store("verifications"),
    username_proofs: store("username_proofs"),
  };
}
