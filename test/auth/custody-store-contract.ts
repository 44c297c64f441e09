import { describe, expect, test } from "bun:test";
import type { CustodyStore } from "../../src/auth/owners/custody-store.ts";
import { ManualClock } from "../support/clock.ts";
import { disposedAfterEach } from "../support/disposed-after-each.ts";

export interface CustodyFixture extends AsyncDisposable {
  readonly store: CustodyStore;
  rows(): Promise<number>;
  /** Does a step of what maintenance does. */
  sweep(): Promise<{ readonly deleted: number }>;
}

const NOW = 1_800_000_000;
const address = (byte: number) => new Uint8Array(20).fill(byte);
const acting = (custody: Uint8Array, blockNumber: number, logIndex = 0, fid = 3) => ({
  fid,
  custody,
  blockNumber,
  logIndex,
});

/** The guarantees of what nodes tell each other about owners, over any database. */
export function custodyStoreContract(
  name: string,
  open: (clock: ManualClock, readyLagSecs: number) => Promise<CustodyFixture>,
): void {
  describe(`${name}: custody store`, () => {
    const keep = disposedAfterEach();
    const clock = new ManualClock(NOW);
    const start = async (readyLagSecs = 86_400) => {
      clock.setSecs(NOW);
      return keep(await open(clock, readyLagSecs));
    };

    test("the address of the latest event counts, in whatever order nodes learn of the events", async () => {
      const { store } = await start();
      const [first, second, third] = [address(1), address(2), address(3)];
      expect(await store.find(3)).toBeUndefined();
      expect(await store.record(acting(second, 20, 1))).toBe(true);
      for (const late of [acting(first, 10, 9), acting(first, 20, 0)])
        expect(await store.record(late)).toBe(false);
      expect(await store.find(3)).toMatchObject(acting(second, 20, 1));
      expect(await store.record(acting(third, 20, 2))).toBe(true);
      expect(await store.record(acting(first, 21, 0))).toBe(true);
      expect(await store.record(acting(second, 20, 1))).toBe(false);
      expect(await store.find(3)).toMatchObject(acting(first, 21, 0));
      expect(await store.find(4)).toBeUndefined();
    });

    test("an address acts again by the same event, and no other one does", async () => {
      const { store, rows } = await start();
      for (let act = 0; act < 3; act++) expect(await store.record(acting(address(1), 10))).toBe(true);
      expect(await store.record(acting(address(2), 10))).toBe(false);
      expect(await store.find(3)).toMatchObject(acting(address(1), 10));
      expect(await rows()).toBe(1);
    });

    test("of concurrent acts, the latest event wins", async () => {
      const { store } = await start();
      for (let round = 0; round < 20; round++) {
        const acts = [1, 2, 3, 4].map((byte) => acting(address(byte), 10 + byte, 0, 100 + round));
        await Promise.all(
          [...acts.slice(round % 4), ...acts.slice(0, round % 4)].map((one) => store.record(one)),
        );
        expect(await store.find(100 + round)).toMatchObject({ blockNumber: 14, custody: address(4) });
      }
    });

    test("an act may be ahead of a ready index for as long as that may lag, and a margin", async () => {
      const { store } = await start(30);
      await store.record(acting(address(1), 10));
      clock.advanceSecs(30 + 60);
      expect((await store.find(3))?.mayBeAhead).toBe(true);
      clock.advanceSecs(600);
      expect((await store.find(3))?.mayBeAhead).toBe(false);
      expect(await store.record(acting(address(1), 11))).toBe(true);
      expect((await store.find(3))?.mayBeAhead).toBe(true);
    });

    test("an act that is ahead of no ready index gives way to one of an earlier position, once and for all", async () => {
      const { store } = await start(30);
      await store.record(acting(address(1), 999_999_999));
      clock.advanceSecs(30 + 60);
      expect(await store.record(acting(address(2), 10))).toBe(false);
      clock.advanceSecs(600);
      for (let act = 0; act < 3; act++) {
        const invented = acting(address(1), 999_999_999 + act);
        expect(await store.record(acting(address(2), 10), acting(address(2), 10))).toBe(true);
        expect(await store.record(invented, invented)).toBe(true);
        expect((await store.find(3))?.mayBeAhead).toBe(false);
      }
    });

    test("an act is kept for longer than a node may lag that still verifies signatures", async () => {
      const { store, sweep, rows } = await start();
      await store.record(acting(address(1), 10));
      clock.advanceSecs(86_400 + 3_600);
      expect((await sweep()).deleted).toBe(0);
      clock.advanceSecs(86_400);
      expect((await sweep()).deleted).toBe(1);
      expect(await rows()).toBe(0);
    });
  });
}
