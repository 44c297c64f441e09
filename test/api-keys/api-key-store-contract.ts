import { describe, expect, test } from "bun:test";
import { type ApiKeyStore, USAGE_DAYS, type UsageRow } from "../../src/api-keys/api-key-store.ts";
import type { AuditEntry, AuditStore } from "../../src/audit/audit-store.ts";
import { makeSecret } from "../management/owned-store-contract.ts";
import { ManualClock } from "../support/clock.ts";
import { disposedAfterEach } from "../support/disposed-after-each.ts";
import { apiKeyItems } from "./api-key-items.ts";

export interface ApiKeyFixture extends AsyncDisposable {
  readonly store: ApiKeyStore;
  readonly audit: AuditStore;
  /** Does what maintenance does; returns the number of deleted rows. */
  sweepUsage(): Promise<number>;
}

const NOW = 1_800_000_000;
const TODAY = Math.floor(NOW / 86_400);
const OWNER = 3;

/** The guarantees of the API keys beyond those of owned records, over any database. */
export function apiKeyStoreContract(
  name: string,
  open: (clock: ManualClock) => Promise<ApiKeyFixture>,
): void {
  describe(`${name}: usage and audit`, () => {
    const keep = disposedAfterEach();
    const clock = new ManualClock(NOW);
    const start = async () => {
      clock.setSecs(NOW);
      return keep(await open(clock));
    };
    const keyOf = (n: number) => ({
      ...apiKeyItems.makeItem(n, {
        ownerFid: OWNER,
        secrets: [makeSecret(n)],
        createdAt: NOW,
        updatedAt: NOW,
      }),
      expiresAt: null,
    });
    const row = (apiKeyId: string, day: number, route: string, n = 1): UsageRow => ({
      apiKeyId,
      day,
      route,
      counts: { requests: n, units: 2 * n, writes: 3 * n, errors: 4 * n, limited: 5 * n },
    });
    const days = { fromDay: TODAY - 1, toDay: TODAY };

    test("usage adds up by key, day and route, also when nodes add at once", async () => {
      const { store } = await start();
      for (const n of [1, 2]) await store.create(keyOf(n), 25);
      const rows = [row("key-1", TODAY, "/b"), row("key-1", TODAY, "/a"), row("key-2", TODAY, "/a", 7)];
      await Promise.all([
        ...Array.from({ length: 10 }, () => store.addUsage(rows, NOW)),
        ...Array.from({ length: 10 }, () => store.addUsage(rows.toReversed(), NOW)),
      ]);
      await store.addUsage([row("key-1", TODAY - 1, "/a"), row("key-1", TODAY - 2, "/a")], NOW);
      expect(await store.usage("key-1", days)).toEqual([
        row("key-1", TODAY - 1, "/a"),
        row("key-1", TODAY, "/a", 20),
        row("key-1", TODAY, "/b", 20),
      ]);
      expect(await store.usage("key-2", days)).toEqual([row("key-2", TODAY, "/a", 140)]);
    });

    test("usage marks a key as used, never earlier than before, and a deleted key has none", async () => {
      const { store } = await start();
      await store.create(keyOf(1), 25);
      await store.addUsage([row("key-1", TODAY, "/a"), row("gone", TODAY, "/a")], NOW + 60);
      await store.addUsage([row("key-1", TODAY, "/a")], NOW);
      expect((await store.find("key-1", NOW))?.lastUsedAt).toBe(NOW + 60);
      expect(await store.usage("gone", days)).toEqual([]);
    });

    test("usage is kept for 400 days", async () => {
      const { store, sweepUsage } = await start();
      await store.create(keyOf(1), 25);
      const old = TODAY - USAGE_DAYS - 1;
      await store.addUsage([row("key-1", old, "/a"), row("key-1", TODAY - USAGE_DAYS, "/a")], NOW);
      expect(await sweepUsage()).toBe(1);
      expect((await store.usage("key-1", { fromDay: 0, toDay: TODAY })).map(({ day }) => day)).toEqual([
        TODAY - USAGE_DAYS,
      ]);
    });

    test("each change is in the audit log, and a refused one is not", async () => {
      const { store, audit } = await start();
      const entry = (action: string): AuditEntry => ({
        atMs: NOW * 1000,
        ownerFid: OWNER,
        action,
        apiKeyId: "key-1",
        signerUuid: null,
        userFid: null,
        hash: null,
        outcome: "ok",
        requestId: "request",
        address: "127.0.0.1",
      });
      const claim = { id: "key-1", ownerFid: OWNER, nowSecs: NOW };
      const rotation = (maxSecrets: number) => ({
        secret: makeSecret(9, NOW),
        graceEndsAt: NOW + 60,
        maxSecrets,
      });
      expect(await store.create(keyOf(1), 0, entry("refused"))).toBe("cap-reached");
      await store.create(keyOf(1), 25, entry("create"));
      expect(await store.update({ ...claim, ownerFid: 4 }, { name: "N" }, entry("refused"))).toBe(
        "not-owner",
      );
      await store.update(claim, { name: "N" }, entry("update"));
      expect(await store.rotateSecret(claim, rotation(1), entry("refused"))).toBe("too-many-secrets");
      await store.rotateSecret(claim, rotation(10), entry("rotate"));
      await store.delete(claim, entry("delete"));
      expect(await store.delete(claim, entry("refused"))).toBe("not-found");
      const entries = await audit.list(OWNER, { limit: 10, before: undefined });
      expect(entries.map(({ action }) => action)).toEqual(["delete", "rotate", "update", "create"]);
      expect(entries[3]).toMatchObject(entry("create"));
      const ofApps = ["app.create", "app.delete"].map((action) => ({ ...entry(action), recordId: "app-1" }));
      await audit.append(ofApps);
      await audit.append([entry("create")]);
      const page = { limit: 1, ofRecords: true };
      const [newest] = await audit.list(OWNER, { ...page, before: undefined });
      const [oldest] = await audit.list(OWNER, { ...page, before: newest });
      expect([newest, oldest]).toMatchObject(ofApps.toReversed());
      expect(await audit.list(OWNER, { ...page, before: oldest })).toEqual([]);
    });
  });
}
