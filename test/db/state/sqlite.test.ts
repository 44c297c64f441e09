import { expect, test } from "bun:test";
import type { App } from "../../../src/apps/app-store.ts";
import { openState, type StateDatabase, statePath } from "../../../src/db/state/database.ts";
import { makeSecret } from "../../management/owned-store-contract.ts";
import { openStateFile } from "../../support/state-file.ts";
import { localStores } from "../../support/state-stores.ts";

const app: App = {
  appId: "app",
  ownerFid: 3,
  name: "App",
  appUrl: "https://app.example",
  description: null,
  signerFidAllowlist: [],
  secrets: [makeSecret(1)],
  createdAt: 100,
  updatedAt: 100,
};

test("every connection sees a committed change, also after reopening", async () => {
  using file = openStateFile();
  const path = statePath(file.dir.path);
  const spent = { fid: 3, nonce: new Uint8Array(32) };
  const stores = (db: StateDatabase) => ({ apps: localStores(db).apps, nonces: localStores(db).nonces });
  using other = openState(path);
  await stores(file.db).apps.create(app, 1);
  expect(await stores(other).apps.find("app", 100)).toEqual(app);
  expect(await stores(other).apps.create({ ...app, appId: "second" }, 1)).toBe("cap-reached");
  expect(await stores(other).nonces.spend(spent, { nowSecs: 1, validUntil: 9, expiresAt: 9 })).toBe(true);
  expect(await stores(file.db).nonces.spend(spent, { nowSecs: 1, validUntil: 9, expiresAt: 9 })).toBe(false);
  file.db[Symbol.dispose]();
  using again = openState(path);
  expect(await stores(again).apps.listByOwner(3, 100)).toEqual([app]);
  expect(await stores(again).nonces.isSpent(spent, { nowSecs: 1, validUntil: 9 })).toBe(true);
});

test("every commit is synced to the disk, and readers never wait", () => {
  using file = openStateFile();
  const pragma = (name: string) => Object.values(file.db.sqlite.query(`PRAGMA ${name}`).get() ?? {})[0];
  expect(pragma("journal_mode")).toBe("wal");
  expect(pragma("synchronous")).toBe(2);
});

test("an id is never reused", async () => {
  using file = openStateFile();
  const apps = localStores(file.db).apps;
  await apps.create(app, 25);
  expect(await apps.create({ ...app, secrets: [makeSecret(2)] }, 25)).toBe("taken");
  expect(await apps.listByOwner(3, 100)).toEqual([app]);
  expect(file.rows("secrets")).toBe(1);
});
