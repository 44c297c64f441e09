import { expect, test } from "bun:test";
import { Store } from "../../src/protocol/message/merge-rules.ts";
import {
  mayLend,
  rentExpiresAt,
  storageLimits,
  unitTypeOf,
  usableUnits,
} from "../../src/protocol/storage.ts";
import { StorageUnitType } from "../../src/protocol/wire/generated/message.ts";

const YEAR_SECS = 365 * 86_400;
const LEGACY_END = 1_724_889_600;
const ERA_2024_END = 1_752_685_200;
const EXTENSION = 1_782_147_600;
const { UNIT_TYPE_LEGACY, UNIT_TYPE_2024, UNIT_TYPE_2025 } = StorageUnitType;

test.each([
  [LEGACY_END - 1, UNIT_TYPE_LEGACY, 4],
  [LEGACY_END, UNIT_TYPE_2024, 3],
  [ERA_2024_END - 1, UNIT_TYPE_2024, 3],
  [ERA_2024_END, UNIT_TYPE_2025, 2],
  [EXTENSION - 1, UNIT_TYPE_2025, 2],
  [EXTENSION, UNIT_TYPE_2025, 1],
])("a rent of %d has units of type %d for %d years", (rentedAt, type, years) => {
  expect([unitTypeOf(rentedAt), rentExpiresAt(rentedAt)]).toEqual([type, rentedAt + years * YEAR_SECS]);
});

test("units are usable until the second before their rent expires, less those lent, never below zero", () => {
  const rents = [
    { units: 3, rentedAt: EXTENSION },
    { units: 2, rentedAt: EXTENSION + 9 },
  ];
  const lent = [{ units: 4, unitType: UNIT_TYPE_2025 }];
  const borrowed = [{ units: 7, unitType: UNIT_TYPE_2024 }];
  const of = (nowSecs: number) => usableUnits({ rents, lent, borrowed }, nowSecs);
  expect(of(EXTENSION + YEAR_SECS - 1)).toEqual({ 0: 0, 1: 7, 2: 1 });
  expect(of(EXTENSION + YEAR_SECS)).toEqual({ 0: 0, 1: 7, 2: 0 });
});

test("limits count usable units, of lends purchased ones, and are valid until the next rent expires", () => {
  const rents = [
    { units: 3, rentedAt: EXTENSION },
    { units: 2, rentedAt: EXTENSION + 9 },
  ];
  const holdings = { rents, lent: [{ units: 4, unitType: UNIT_TYPE_2025 }], borrowed: [] };
  const at = (nowSecs: number) => {
    const { limits, validUntilSecs } = storageLimits(holdings, nowSecs);
    return [limits.get(Store.Casts), limits.get(Store.StorageLends), validUntilSecs - EXTENSION - YEAR_SECS];
  };
  expect(at(EXTENSION)).toEqual([100, 5, 0]);
  expect(at(EXTENSION + YEAR_SECS)).toEqual([0, 2, 9]);
  expect(storageLimits({ ...holdings, rents: [] }, EXTENSION).validUntilSecs).toBe(Number.MAX_SAFE_INTEGER);
});

test("fids with equal units share one table of limits, so that a cache of many fids holds few", () => {
  const holdings = (rentedAt: number, units: number) => ({
    rents: [{ units, rentedAt }],
    lent: [],
    borrowed: [],
  });
  const limitsOf = (rentedAt: number, units: number) =>
    storageLimits(holdings(rentedAt, units), EXTENSION + 9);
  const [one, other] = [limitsOf(EXTENSION, 2), limitsOf(EXTENSION + 9, 2)];
  expect(one.limits).toBe(other.limits);
  expect(one.validUntilSecs).not.toBe(other.validUntilSecs);
  expect(limitsOf(EXTENSION, 3).limits).not.toBe(one.limits);
});

test.each([
  [999, 1, true, false],
  [1_000, 999, true, true],
  [1_000, 1_000, true, false],
  [5, 5, false, true],
  [5, 6, false, false],
])("of %d units, %d may be lent (mainnet: %p): %p", (owned, lent, isMainnet, expected) => {
  expect(mayLend(owned, lent, isMainnet)).toBe(expected);
});
