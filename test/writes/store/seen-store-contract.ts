import { describe, expect, test } from "bun:test";
import { SEEN_RETENTION_SECS, type SeenStore } from "../../../src/writes/store/seen-store.ts";
import { ManualClock } from "../../support/clock.ts";
import { disposedAfterEach } from "../../support/disposed-after-each.ts";

export interface SeenFixture extends AsyncDisposable {
  readonly seen: SeenStore;
  /** Does what maintenance does; returns the number of deleted rows. */
  sweep(): Promise<number>;
}

const NOW = 1_800_000_000;

/** The guarantees of the marks of seen notifications, over any database. */
export function seenStoreContract(name: string, open: (clock: ManualClock) => Promise<SeenFixture>): void {
  describe(name, () => {
    const keep = disposedAfterEach();
    const clock = new ManualClock(NOW);
    const start = async () => {
      clock.setSecs(NOW);
      return keep(await open(clock));
    };

    test("a mark is that of one owner and one user", async () => {
      const { seen } = await start();
      await seen.mark(3, 10, ["likes", "follows"], NOW);
      expect(await seen.find(3, 10)).toEqual({ likes: NOW, follows: NOW });
      expect(await seen.find(4, 10)).toEqual({});
      expect(await seen.find(3, 11)).toEqual({});
    });

    test("a mark never moves back, also when many are set at once", async () => {
      const { seen } = await start();
      const times = [5, 9, 2, 7, 1];
      await Promise.all(times.map((after) => seen.mark(3, 10, ["likes", "replies"], NOW + after)));
      await seen.mark(3, 10, ["replies"], NOW);
      expect(await seen.find(3, 10)).toEqual({ likes: NOW + 9, replies: NOW + 9 });
    });

    test("a mark that no one moves is swept after its retention, and no other", async () => {
      const { seen, sweep } = await start();
      await seen.mark(3, 10, ["likes"], NOW);
      await seen.mark(3, 10, ["follows"], NOW + 100_000);
      expect(await sweep()).toBe(0);
      clock.setSecs(NOW + SEEN_RETENTION_SECS + 50_000);
      expect(await sweep()).toBe(1);
      expect(await seen.find(3, 10)).toEqual({ follows: NOW + 100_000 });
    });
  });
}
