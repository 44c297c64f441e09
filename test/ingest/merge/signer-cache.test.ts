import { expect, test } from "bun:test";
import { SignerCache } from "../../../src/ingest/merge/keys/signer-cache.ts";

const MAX_CACHED_KEYS = 20_000;
const keyOf = (n: number) => new Uint8Array(new Uint32Array(8).fill(n).buffer);
const [first, second] = [keyOf(1), keyOf(2)];

test("a key is known as active for its fid only, and as not gasless once that was found", () => {
  const cache = new SignerCache();
  cache.addActive(5, first);
  cache.addNotGasless(second);
  for (const key of [first, keyOf(1)])
    expect([cache.isActive(5, key), cache.isActive(6, key), cache.isNotGasless(key)]).toEqual([
      true,
      false,
      false,
    ]);
  expect([cache.isActive(5, second), cache.isNotGasless(second)]).toEqual([false, true]);
});

test("all keys are forgotten, the one that was looked up last included", () => {
  const cache = new SignerCache();
  cache.addActive(5, second);
  cache.addActive(5, first);
  cache.clear();
  expect([cache.isActive(5, first), cache.isActive(5, second)]).toEqual([false, false]);
});

test("at most 20,000 keys are known: the next one takes the place of all", () => {
  const cache = new SignerCache();
  for (let n = 0; n < MAX_CACHED_KEYS; n++) cache.addActive(5, keyOf(n));
  expect(cache.isActive(5, first)).toBe(true);
  cache.addActive(5, keyOf(MAX_CACHED_KEYS));
  expect([cache.isActive(5, keyOf(MAX_CACHED_KEYS)), cache.isActive(5, first)]).toEqual([true, false]);
});
