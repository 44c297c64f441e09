import { describe, expect, test } from "bun:test";
import type { AuditEntry, AuditStore } from "../../src/audit/audit-store.ts";
import type { ModerationStore } from "../../src/moderation/moderation-store.ts";
import { disposedAfterEach } from "../support/disposed-after-each.ts";

export interface ModerationFixture extends AsyncDisposable {
  readonly store: ModerationStore;
  readonly audit: Pick<AuditStore, "list">;
}

/** Room for three bans, two mutes of a user and three of an owner. */
const SMALL = { bans: 3, mutesOfUser: 2, mutes: 3 } as const;
const by = (nowSecs: number) => ({ keyId: "k", nowSecs });

const entryOf = (action: string): AuditEntry => ({
  ...{ atMs: 1_000, ownerFid: 7, action, apiKeyId: "k", signerUuid: null, userFid: 1, hash: null },
  ...{ outcome: "ok", requestId: "r", address: "127.0.0.1" },
});
/** No database takes it. */
const UNSTORABLE = { ...entryOf("ban.add"), outcome: null } as unknown as AuditEntry;

/** The guarantees of bans and private mutes, over any database. */
export function moderationStoreContract(name: string, open: () => Promise<ModerationFixture>): void {
  describe(name, () => {
    const keep = disposedAfterEach();
    const startBoth = async () => {
      return keep(await open());
    };
    const start = async () => (await startBoth()).store;

    test("bans are those of one owner, newest first, then by fid, and keep their time", async () => {
      const store = await start();
      expect(await store.ban(7, [5, 9], by(100), SMALL)).toBe(true);
      expect(await store.ban(7, [9, 6], by(200), SMALL)).toBe(true);
      expect(await store.ban(8, [5], by(300), SMALL)).toBe(true);
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
      expect(await store.bannedAmong([9, 7], [5, 6, 9])).toHaveLength(2);
      expect((await store.bannedAmong([8, 7], [5, 9])).sort((a, b) => a.ownerFid - b.ownerFid)).toEqual([
        { ownerFid: 7, fid: 5 },
        { ownerFid: 8, fid: 5 },
      ]);
      expect(await store.bannedAmong([], [5])).toEqual([]);
    });

    test("bans beyond the bound are refused together, and those that are there already need no room", async () => {
      const store = await start();
      expect(await store.ban(7, [1, 2], by(1), SMALL)).toBe(true);
      expect(await store.ban(7, [3, 4], by(1), SMALL)).toBe(false);
      expect(await store.ban(7, [1, 2, 3], by(1), SMALL)).toBe(true);
      const results = await Promise.all([4, 5].map((fid) => store.ban(7, [fid], by(1), SMALL)));
      expect(results).toEqual([false, false]);
      expect((await store.bannedFids(7)).sort()).toEqual([1, 2, 3]);
    });

    test("mutes are those of a user in one owner's app, newest first, within the bounds", async () => {
      const store = await start();
      expect(await store.mute({ ownerFid: 7, fid: 1, mutedFid: 2, nowSecs: 100 }, SMALL)).toBe(true);
      expect(await store.mute({ ownerFid: 7, fid: 1, mutedFid: 3, nowSecs: 200 }, SMALL)).toBe(true);
      expect(await store.mute({ ownerFid: 7, fid: 1, mutedFid: 2, nowSecs: 300 }, SMALL)).toBe(true);
      expect(await store.mutes(7, 1)).toEqual([
        { mutedFid: 3, mutedAt: 200 },
        { mutedFid: 2, mutedAt: 100 },
      ]);
      expect(await store.mute({ ownerFid: 7, fid: 1, mutedFid: 4, nowSecs: 300 }, SMALL)).toBe(false);
      expect(await store.mute({ ownerFid: 7, fid: 2, mutedFid: 1, nowSecs: 300 }, SMALL)).toBe(true);
      expect(await store.mute({ ownerFid: 7, fid: 3, mutedFid: 1, nowSecs: 300 }, SMALL)).toBe(false);
      expect(await store.mutes(8, 1)).toEqual([]);
      await store.unmute(7, 1, 3);
      expect((await store.mutes(7, 1)).map(({ mutedFid }) => mutedFid)).toEqual([2]);
      expect(await store.mute({ ownerFid: 7, fid: 3, mutedFid: 1, nowSecs: 300 }, SMALL)).toBe(true);
    });

    test("the version of an owner is 0 until the first change, and rises with each", async () => {
      const store = await start();
      expect(await store.version(7)).toBe(0);
      const versions: number[] = [];
      for (const change of [
        () => store.ban(7, [1], by(1), SMALL),
        () => store.unban(7, [1]),
        () => store.mute({ ownerFid: 7, fid: 1, mutedFid: 2, nowSecs: 1 }, SMALL),
        () => store.unmute(7, 1, 2),
      ]) {
        await change();
        versions.push(await store.version(7));
      }
      expect(versions).toEqual([1, 2, 3, 4]);
      expect(await store.version(8)).toBe(0);
    });

    test("a change has its entries in the audit log if it happens, and does not happen without them", async () => {
      const { store, audit } = await startBoth();
      const changes = {
        "ban.add": (entries: readonly AuditEntry[]) => store.ban(7, [1], by(1), SMALL, entries),
        "ban.remove": (entries: readonly AuditEntry[]) => store.unban(7, [1], entries),
        "mute.add": (entries: readonly AuditEntry[]) =>
          store.mute({ ownerFid: 7, fid: 1, mutedFid: 2, nowSecs: 1 }, SMALL, entries),
        "mute.remove": (entries: readonly AuditEntry[]) => store.unmute(7, 1, 2, entries),
      };
      const actions = async () =>
        (await audit.list(7, { limit: 10, before: undefined })).map(({ action }) => action).reverse();
      const expected: string[] = [];
      for (const [action, change] of Object.entries(changes)) {
        const before = [await store.bannedFids(7), await store.mutes(7, 1), await store.version(7)];
        await expect(change([entryOf(action), UNSTORABLE])).rejects.toThrow();
        expect([await store.bannedFids(7), await store.mutes(7, 1), await store.version(7)]).toEqual(before);
        await change([entryOf(action)]);
        expected.push(action);
        expect(await actions()).toEqual(expected);
      }
      expect(await store.ban(7, [1, 2, 3, 4], by(1), SMALL, [entryOf("ban.add")])).toBe(false);
      expect(await actions()).toEqual(expected);
    });
  });
}
