import { Store } from "./message/merge-rules.ts";
import { StorageUnitType } from "./wire/generated/message.ts";

/** Storage that an fid rented with one STORAGE_RENT event. `rentedAt` is in Unix seconds. */
export interface Rent {
  readonly units: number;
  readonly rentedAt: number;
}

/** Units of one type that one fid lends to another. */
export interface Lend {
  readonly units: number;
  readonly unitType: StorageUnitType;
}

/** The storage that an fid rents, lends and borrows. */
export interface StorageHoldings {
  readonly rents: readonly Rent[];
  readonly lent: readonly Lend[];
  readonly borrowed: readonly Lend[];
}

const DAY_SECS = 86_400;
const YEAR_SECS = 365 * DAY_SECS;
/** 2024-08-29T00:00:00Z: earlier rents are legacy units. */
const LEGACY_ERA_END_SECS = 1_724_889_600;
/** 2025-07-16T17:00:00Z: earlier rents are 2024 units. */
const ERA_2024_END_SECS = 1_752_685_200;
/** 2026-06-22T17:00:00Z: 2025 units rented before it last two years instead of one. */
const EXTENSION_SECS = 1_782_147_600;

/** The stores that storage units limit, with their names in responses. */
export const LIMITED_STORES = [
  [Store.Casts, "casts"],
  [Store.Links, "links"],
  [Store.Reactions, "reactions"],
  [Store.UserData, "user_data"],
  [Store.UsernameProofs, "username_proofs"],
  [Store.Verifications, "verifications"],
  [Store.StorageLends, "storage_lends"],
] as const;

type LimitedStore = (typeof LIMITED_STORES)[number][0];

/** Messages per unit, by unit type and store. Only purchased units can be lent. */
const PER_UNIT: Record<StorageUnitType, Record<LimitedStore, number>> = {
  [StorageUnitType.UNIT_TYPE_LEGACY]: perUnit(5000, 2500, 2500, 50, 5, 25),
  [StorageUnitType.UNIT_TYPE_2024]: perUnit(2000, 1000, 1000, 50, 5, 25),
  [StorageUnitType.UNIT_TYPE_2025]: perUnit(100, 200, 200, 25, 2, 5),
};

function perUnit(
  casts: number,
  links: number,
  reactions: number,
  userData: number,
  nameProofs: number,
  verifications: number,
): Record<LimitedStore, number> {
  return {
    [Store.Casts]: casts,
    [Store.Links]: links,
    [Store.Reactions]: reactions,
    [Store.UserData]: userData,
    [Store.UsernameProofs]: nameProofs,
    [Store.Verifications]: verifications,
    [Store.StorageLends]: 1,
  };
}

/** Returns the type of a rent's units, which depends only on the time of the rent. */
export function unitTypeOf(rentedAt: number): StorageUnitType {
  if (rentedAt < LEGACY_ERA_END_SECS) return StorageUnitType.UNIT_TYPE_LEGACY;
  if (rentedAt < ERA_2024_END_SECS) return StorageUnitType.UNIT_TYPE_2024;
  return StorageUnitType.UNIT_TYPE_2025;
}

/**
 * Returns when a rent expires, in Unix seconds. The event's `expiry` always says one year, but the network does not use it:
 * legacy units last four years, 2024 units three, 2025 units two or, if rented later, one.
 */
export function rentExpiresAt(rentedAt: number): number {
  if (rentedAt < LEGACY_ERA_END_SECS) return rentedAt + 4 * YEAR_SECS;
  if (rentedAt < ERA_2024_END_SECS) return rentedAt + 3 * YEAR_SECS;
  if (rentedAt < EXTENSION_SECS) return rentedAt + 2 * YEAR_SECS;
  return rentedAt + YEAR_SECS;
}

/** Returns the purchased units of each type that have not expired at `nowSecs`. */
export function purchasedUnits(rents: readonly Rent[], nowSecs: number): Record<StorageUnitType, number> {
  const units = { 0: 0, 1: 0, 2: 0 };
  for (const rent of rents) {
    if (rentExpiresAt(rent.rentedAt) > nowSecs) units[unitTypeOf(rent.rentedAt)] += rent.units;
  }
  return units;
}

/** Number of messages that an fid may store in each store, and until when these limits are valid (Unix seconds). */
export interface StorageLimits {
  readonly limits: ReadonlyMap<Store, number>;
  readonly validUntilSecs: number;
}

/** Returns the units of each type that an fid can use at `nowSecs`: purchased - lent + borrowed, never below zero. */
export function usableUnits(holdings: StorageHoldings, nowSecs: number): Record<StorageUnitType, number> {
  const units = purchasedUnits(holdings.rents, nowSecs);
  for (const lend of holdings.lent) units[lend.unitType] -= lend.units;
  for (const lend of holdings.borrowed) units[lend.unitType] += lend.units;
  for (const unitType of UNIT_TYPES) units[unitType] = Math.max(0, units[unitType]);
  return units;
}

/**
 * Returns the limit per store: the sum over unit types of usable units × messages per unit; for lends, of purchased units.
 */
export function storageLimits(holdings: StorageHoldings, nowSecs: number): StorageLimits {
  const limits = limitsOf(purchasedUnits(holdings.rents, nowSecs), usableUnits(holdings, nowSecs));
  const expiries = holdings.rents.map((r) => rentExpiresAt(r.rentedAt)).filter((at) => at > nowSecs);
  return { limits, validUntilSecs: Math.min(Number.MAX_SAFE_INTEGER, ...expiries) };
}

type Units = Record<StorageUnitType, number>;
type Limits = StorageLimits["limits"];

const MAX_SHARED = 1_000;

/** Most fids have one of a few numbers of units. A table takes a kilobyte, and the writer caches the limits of 50,000 fids. */
const shared = new Map<string, Limits>();

function limitsOf(purchased: Units, usable: Units): Limits {
  const key = UNIT_TYPES.map((unitType) => `${purchased[unitType]} ${usable[unitType]}`).join();
  const known = shared.get(key);
  if (known) return known;
  const limits = new Map<Store, number>();
  for (const [store] of LIMITED_STORES) {
    const units = store === Store.StorageLends ? purchased : usable;
    let limit = 0;
    for (const unitType of UNIT_TYPES) limit += units[unitType] * PER_UNIT[unitType][store];
    limits.set(store, limit);
  }
  if (shared.size >= MAX_SHARED) shared.clear();
  shared.set(key, limits);
  return limits;
}

const UNIT_TYPES = [
  StorageUnitType.UNIT_TYPE_LEGACY,
  StorageUnitType.UNIT_TYPE_2024,
  StorageUnitType.UNIT_TYPE_2025,
] as const;

const MAINNET_MIN_LENDER_UNITS = 1000;
const MAINNET_RESERVED_UNITS = 1;

/**
 * Reports whether an fid that owns `owned` purchased units of a type may lend `lent` of them in total. On mainnet a lender
 * must own at least 1,000 units of the type and retain one; on other networks it can lend all that it owns.
 */
export function mayLend(owned: number, lent: number, isMainnet: boolean): boolean {
  if (!isMainnet) return lent <= owned;
  return owned >= MAINNET_MIN_LENDER_UNITS && lent <= owned - MAINNET_RESERVED_UNITS;
}
