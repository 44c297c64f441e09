import { expect, test } from "bun:test";
import { openIndexInMemory } from "../../src/db/index/database.ts";
import { storeOnChainEvent } from "../../src/ingest/merge/registry.ts";
import { StorageLimitCache } from "../../src/ingest/merge/storage-limits.ts";
import { Store } from "../../src/protocol/message/merge-rules.ts";
import { rentExpiresAt } from "../../src/protocol/storage.ts";
import { rentEvent } from "../support/events.ts";
import { DEFAULT_NOW_SECS } from "../support/messages.ts";

const MAX_CACHED_FIDS = 50_000;

test("the cache of limits serves an fid without its rows, and holds at most 50,000 fids", () => {
  using db = openIndexInMemory();
  const cache = new StorageLimitCache(db);
  const castsOf = (fid: number) => cache.limit(fid, Store.Casts, DEFAULT_NOW_SECS);
  storeOnChainEvent(db, rentEvent(1, 1, { block: 1, at: DEFAULT_NOW_SECS }));
  const limit = castsOf(1);
  expect(limit).toBeGreaterThan(0);
  // The cache does not learn of this rent: its limit shows once the entry has left.
  storeOnChainEvent(db, rentEvent(1, 1, { block: 2, at: DEFAULT_NOW_SECS }));
  for (let fid = 2; fid <= MAX_CACHED_FIDS; fid++) castsOf(fid);
  expect(castsOf(1)).toBe(limit);
  castsOf(MAX_CACHED_FIDS + 1);
  expect(castsOf(1)).toBe(2 * limit);
});

test("limits end in the second in which a rent expires", () => {
  using db = openIndexInMemory();
  const cache = new StorageLimitCache(db);
  storeOnChainEvent(db, rentEvent(1, 1, { block: 1, at: DEFAULT_NOW_SECS }));
  const expiresAt = rentExpiresAt(DEFAULT_NOW_SECS);
  const castsAt = (secs: number) => cache.limit(1, Store.Casts, secs);
  expect([castsAt(expiresAt - 1), castsAt(expiresAt)]).toEqual([100, 0]);
});
