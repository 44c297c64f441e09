import { describe, expect, test } from "bun:test";
import type { NonceStore } from "../../src/auth/nonce-store.ts";
import { ManualClock } from "../support/clock.ts";
import { disposedAfterEach } from "../support/disposed-after-each.ts";

export interface NonceFixture extends AsyncDisposable {
  readonly store: NonceStore;
  rows(): Promise<number>;
  /** Does a step of what maintenance does. */
  sweep(maxRows: number): Promise<{ readonly deleted: number; readonly more: boolean }>;
}

/** The guarantees of every implementation of the nonce store. */
export function nonceStoreContract(name: string, open: (clock: ManualClock) => Promise<NonceFixture>): void {
  describe(`${name}: nonce store`, () => {
    const keep = disposedAfterEach();
    const start = async () => {
      clock = new ManualClock(100);
      return keep(await open(clock));
    };
    const nonce = (n: number, fid = 3) => ({ fid, nonce: new Uint8Array(32).fill(n) });
    const times = (nowSecs: number) => {
      clock.setSecs(nowSecs);
      return { nowSecs, validUntil: nowSecs + 300, expiresAt: nowSecs + 600 };
    };
    const isSpent = (store: NonceStore, n: number, nowSecs: number) =>
      store.isSpent(nonce(n), { nowSecs, validUntil: nowSecs + 300 });
    let clock: ManualClock;

    test("exactly one of many attempts to spend a nonce succeeds", async () => {
      const { store, rows } = await start();
      const outcomes = await Promise.all([...Array(50)].map(() => store.spend(nonce(1), times(100))));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(await rows()).toBe(1);
    });

    test("the same nonce with another fid is a different nonce", async () => {
      const { store } = await start();
      expect(await store.spend(nonce(1), times(100))).toBe(true);
      expect(await store.spend(nonce(1, 4), times(100))).toBe(true);
      expect(await store.spend(nonce(2), times(100))).toBe(true);
    });

    test("a nonce is spent up to and including its last second, and can be spent again after it", async () => {
      const { store } = await start();
      expect(await isSpent(store, 1, 100)).toBe(false);
      await store.spend(nonce(1), times(100));
      expect(await isSpent(store, 1, 100)).toBe(true);
      expect(await isSpent(store, 1, 700)).toBe(true);
      expect(await store.spend(nonce(1), times(700))).toBe(false);
      expect(await isSpent(store, 1, 701)).toBe(false);
      expect(await store.spend(nonce(1), times(701))).toBe(true);
      expect(await isSpent(store, 1, 1301)).toBe(true);
    });

    test("expired nonces do not accumulate", async () => {
      const { store, rows, sweep } = await start();
      for (let n = 0; n < 100; n += 1) await store.spend(nonce(n), times(100));
      expect(await rows()).toBe(100);
      for (let n = 100; n < 140; n += 1) await store.spend(nonce(n), times(1000));
      await sweep(1_000);
      expect(await rows()).toBe(40);
    });

    test("a request whose nonce was swept is refused, whatever its node's clock says", async () => {
      const { store, sweep } = await start();
      const late = { nowSecs: 100, validUntil: 400, expiresAt: 700 };
      expect(await store.spend(nonce(1), late)).toBe(true);
      await store.spend(nonce(2), times(1000));
      expect(await sweep(1)).toEqual({ deleted: 1, more: true });
      expect(await sweep(1)).toEqual({ deleted: 0, more: false });
      expect(await store.isSpent(nonce(1), late)).toBe(true);
      expect(await store.spend(nonce(1), late)).toBe(false);
      // So is any that is valid no longer than what was swept.
      for (const [validUntil, isRefused] of [
        [700, true],
        [701, false],
      ] as const) {
        expect(await store.isSpent(nonce(9), { nowSecs: 650, validUntil })).toBe(isRefused);
        expect(await store.spend(nonce(9), { ...late, validUntil })).toBe(!isRefused);
      }
    });
  });
}
