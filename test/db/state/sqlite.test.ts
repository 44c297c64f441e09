import { expect, test } from "bun:test";
import { openState, type StateDatabase, statePath } from "../../../src/db/state/database.ts";
import { type App, UNTRIED, type Webhook } from "../../../src/db/state/records.ts";
import { verifyState } from "../../../src/node/state/verify.ts";
import type { Clock } from "../../../src/runtime/clock.ts";
import { tempDir } from "../../support/program.ts";
import { localStores } from "../../support/state-stores.ts";
import { nonceStoreContract } from "./contracts/nonce-store.ts";
import { makeSecret, type OwnedFixture, ownedStoreContract } from "./contracts/owned-store.ts";

/** A state database in a directory of its own, with a second connection to it. */
function openFile() {
  const dir = tempDir();
  const db = openState(statePath(dir.path));
  const rows = (table: string) =>
    db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? -1;
  const dispose = () => {
    db[Symbol.dispose]();
    dir[Symbol.dispose]();
  };
  return { db, dir, rows, [Symbol.dispose]: dispose };
}

function appFixture(clock: Clock): OwnedFixture<App, Partial<App>> {
  const { db, rows, ...file } = openFile();
  return {
    store: localStores(db, { clock }).apps,
    idOf: (app) => app.appId,
    makeItem: (n, base) => ({
      ...base,
      appId: `app-${n}`,
      name: `App ${n} 'quoted' 🎈`,
      appUrl: `https://app-${n}.example/`,
      description: n % 2 === 0 ? null : `Description ${n}`,
      signerFidAllowlist: [n, Number.MAX_SAFE_INTEGER],
    }),
    allChanges: { name: "N", appUrl: "https://n.example", description: null, signerFidAllowlist: [] },
    secretRows: () => rows("secrets"),
    ...file,
    [Symbol.dispose]() {
      expect(verifyState(db)).toEqual([]);
      file[Symbol.dispose]();
    },
  };
}

function webhookFixture(clock: Clock): OwnedFixture<Webhook, Partial<Webhook>> {
  const { db, rows, ...file } = openFile();
  return {
    store: localStores(db, { clock }).webhooks,
    idOf: (webhook) => webhook.webhookId,
    makeItem: (n, base) => ({
      ...base,
      webhookId: `webhook-${n}`,
      title: `Webhook ${n}`,
      targetUrl: `https://webhook-${n}.example/`,
      description: n % 2 === 0 ? null : `Description ${n}`,
      active: true,
      subscription: { "cast.created": { author_fids: [n], match: "any" }, "user.created": {} },
      compatPrefix: null,
      health: UNTRIED,
    }),
    allChanges: {
      title: "T",
      targetUrl: "https://t.example",
      description: "D",
      active: false,
      subscription: { "follow.deleted": {} },
    },
    secretRows: () => rows("secrets"),
    ...file,
    [Symbol.dispose]() {
      expect(verifyState(db)).toEqual([]);
      file[Symbol.dispose]();
    },
  };
}

ownedStoreContract("apps in SQLite", appFixture);
ownedStoreContract("webhooks in SQLite", webhookFixture);
nonceStoreContract("nonces in SQLite", (clock) => {
  const { db, rows, ...file } = openFile();
  return { store: localStores(db, { clock }).nonces, rows: () => rows("nonces"), ...file };
});

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

test("what is decided is seen by every connection, and is there after a reopening", async () => {
  using file = openFile();
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
  using file = openFile();
  const pragma = (name: string) => Object.values(file.db.sqlite.query(`PRAGMA ${name}`).get() ?? {})[0];
  expect(pragma("journal_mode")).toBe("wal");
  expect(pragma("synchronous")).toBe(2);
});

test("an id is never reused", async () => {
  using file = openFile();
  const apps = localStores(file.db).apps;
  await apps.create(app, 25);
  await expect(apps.create({ ...app, secrets: [makeSecret(2)] }, 25)).rejects.toThrow("UNIQUE");
  expect(await apps.listByOwner(3, 100)).toEqual([app]);
  expect(file.rows("secrets")).toBe(1);
});
