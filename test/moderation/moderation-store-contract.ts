import { afterEach, describe, expect, test } from "bun:test";
import type { ModerationStore } from "../../src/moderation/moderation-store.ts";

export interface ModerationFixture extends AsyncDisposable {
  /** With room for three bans, two mutes of a user and three of an owner. */
  readonly store: ModerationStore;
}

export const SMALL = { bans: 3, mutesOfUser: 2, mutes: 3 } as const;
const by = (nowSecs: number) => ({ keyId: "k", nowSecs });

/** The guarantees of bans and private mutes, over any database. */
export function moderationStoreContract(name: string, open: () => Promise<ModerationFixture>): void {
  describe(name, () => {
    const opened: AsyncDisposable[] = [];
    afterEach(async () => {
      for (const fixture of opened.splice(0)) await fixture[Symbol.asyncDispose]();
    });
    const start = async () => {
      const fixture = await open();
      opened.push(fixture);
      return fixture.store;
    };

    test("bans are those of one owner, newest first, then by fid, and keep their time", async () => {
      const store = await start();
      expect(await store.ban(7, [5, 9], by(100))).toBe(true);
      expect(await store.ban(7, [9, 6], by(200))).toBe(true);
      expect(await store.ban(8, [5], by(300))).toBe(true);
      const all = [
        { fid: 6, bannedAt: 200 },
        { fid: 9, bannedAt: 100 },
        { fid: 5, bannedAt: 100 },
      ];
      expect(await store.bans(7, { limit: 10, after: undefined })).toEqual(all);
      expect(await store.bans(7, { limit: 1, after: all[0] })).toEqual(all.slice(1, 2));
      expect((await store.bannedFids(7)).sort()).toEqual([5, 6, 9]);
      await store.unban(7, [9, 1]);
      expect((await store.bannedFids(7)).sort()).toEqual([5, 6]);
      expect(await store.bannedFids(8)).toEqual([5]);
    });

    test("bans beyond the bound are refused together, and those that are there already need no room", async () => {
      const store = await start();
      expect(await store.ban(7, [1, 2], by(1))).toBe(true);
      expect(await store.ban(7, [3, 4], by(1))).toBe(false);
      expect(await store.ban(7, [1, 2, 3], by(1))).toBe(true);
      const results = await Promise.all([4, 5].map((fid) => store.ban(7, [fid], by(1))));
      expect(results).toEqual([false, false]);
      expect((await store.bannedFids(7)).sort()).toEqual([1, 2, 3]);
    });

    test("mutes are those of a user in one owner's app, newest first, within the bounds", async () => {
      const store = await start();
      expect(await store.mute(7, 1, 2, 100)).toBe(true);
      expect(await store.mute(7, 1, 3, 200)).toBe(true);
      expect(await store.mute(7, 1, 2, 300)).toBe(true);
      expect(await store.mutes(7, 1)).toEqual([
        { mutedFid: 3, mutedAt: 200 },
        { mutedFid: 2, mutedAt: 100 },
      ]);
      expect(await store.mute(7, 1, 4, 300)).toBe(false);
      expect(await store.mute(7, 2, 1, 300)).toBe(true);
      expect(await store.mute(7, 3, 1, 300)).toBe(false);
      expect(await store.mutes(8, 1)).toEqual([]);
      await store.unmute(7, 1, 3);
      expect((await store.mutes(7, 1)).map(({ mutedFid }) => mutedFid)).toEqual([2]);
      expect(await store.mute(7, 3, 1, 300)).toBe(true);
    });

    test("the version of an owner is 0 until the first change, and rises with each", async () => {
      const store = await start();
      expect(await store.version(7)).toBe(0);
      const versions: number[] = [];
      for (const change of [
        () => store.ban(7, [1], by(1)),
        () => store.unban(7, [1]),
        () => store.mute(7, 1, 2, 1),
        () => store.unmute(7, 1, 2),
      ]) {
        await change();
        versions.push(await store.version(7));
      }
      expect(versions).toEqual([1, 2, 3, 4]);
      expect(await store.version(8)).toBe(0);
    });
  });
}
