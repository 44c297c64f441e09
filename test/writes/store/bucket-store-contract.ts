import { describe, expect, test } from "bun:test";
import type { BucketStore } from "../../../src/writes/store/bucket-store.ts";
import { ManualClock } from "../../support/clock.ts";
import { disposedAfterEach } from "../../support/disposed-after-each.ts";

export interface BucketFixture extends AsyncDisposable {
  readonly buckets: BucketStore;
  /** Does what maintenance does; returns the number of deleted rows. */
  sweep(): Promise<number>;
}

const NOW = 1_800_000_000;

/** The guarantees of token buckets of the state, over any database. */
export function bucketStoreContract(
  name: string,
  open: (clock: ManualClock) => Promise<BucketFixture>,
): void {
  describe(name, () => {
    const keep = disposedAfterEach();
    const clock = new ManualClock(NOW);
    const start = async () => {
      clock.setSecs(NOW);
      return keep(await open(clock));
    };
    const ofKey = (tokens: number) => ({ name: "key:k", tokens, burst: 7, msPerToken: 60_000 / 7 });
    const ofFid = (tokens: number) => ({ name: "fid:1", tokens, burst: 100, msPerToken: 3_600 });

    test("charges at once are admitted exactly as often as there are tokens, and say what is left", async () => {
      const { buckets } = await start();
      const answers = await Promise.all(Array.from({ length: 20 }, () => buckets.take([ofFid(1), ofKey(1)])));
      const admitted = answers.filter((states) => states.every(({ retryInMs }) => retryInMs === 0));
      expect(admitted.map(([, key]) => key?.left).toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6]);
      // What the key refuses is not taken from the fid.
      const [fid, key] = await buckets.take([ofFid(1), ofKey(1)]);
      expect(fid).toMatchObject({ left: 93, retryInMs: 0 });
      expect(key?.retryInMs).toBeGreaterThan(8_500);
      expect(key?.retryInMs).toBeLessThan(8_600);
      clock.setSecs(NOW + 9);
      expect((await buckets.take([ofKey(1)]))[0]?.retryInMs).toBe(0);
      expect((await buckets.take([ofKey(1)]))[0]?.retryInMs).toBeGreaterThan(0);
    });

    test("a charge for more than the bucket holds waits until it is full, and leaves a debt", async () => {
      const { buckets } = await start();
      expect((await buckets.take([ofKey(14)]))[0]).toMatchObject({ left: 0, retryInMs: 0 });
      clock.setSecs(NOW + 61);
      expect((await buckets.take([ofKey(1)]))[0]?.retryInMs).toBeGreaterThan(7_000);
      clock.setSecs(NOW + 119);
      expect((await buckets.take([ofKey(14)]))[0]).toMatchObject({ retryInMs: expect.any(Number) });
      clock.setSecs(NOW + 121);
      expect((await buckets.take([ofKey(14)]))[0]?.retryInMs).toBe(0);
    });

    test("full buckets are swept, and no other", async () => {
      const { buckets, sweep } = await start();
      await buckets.take([ofKey(1), ofFid(100)]);
      expect(await sweep()).toBe(0);
      clock.setSecs(NOW + 200);
      expect(await sweep()).toBe(1);
      expect((await buckets.take([ofFid(100)]))[0]?.retryInMs).toBeGreaterThan(0);
    });
  });
}
