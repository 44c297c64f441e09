import { afterEach, beforeEach, expect, test } from "bun:test";
import type { App } from "../../../src/apps/app-store.ts";
import { openState, type StateDatabase, statePath } from "../../../src/db/state/database.ts";
import { secretDigest } from "../../../src/db/state/secret.ts";
import { UNTRIED } from "../../../src/webhooks/store/webhook-store.ts";
import { makeSecret } from "../../management/owned-store-contract.ts";
import { tempDir } from "../../support/program.ts";
import { testApp } from "../../support/send.ts";
import { localStores } from "../../support/state-stores.ts";

const dir = () => tempDir();
let place: ReturnType<typeof dir>;
let db: StateDatabase;
beforeEach(() => {
  place = dir();
  db = openState(statePath(place.path));
});
afterEach(() => {
  db[Symbol.dispose]();
  place[Symbol.dispose]();
});

const value = (n: number) => String(n).repeat(64);
const withSecret = (appId: string, n: number, expiresAt: number | null = null): App =>
  testApp({ appId, secrets: [{ uid: crypto.randomUUID(), value: value(n), createdAt: 1, expiresAt }] });
const find = async (n: number, nowSecs = 100) =>
  (await localStores(db).apps.findBySecret(secretDigest(value(n)), nowSecs))?.appId;

test("an app is found by each of its secrets until the second at which they expire", async () => {
  const apps = localStores(db).apps;
  await apps.create(withSecret("one", 1), 10);
  await apps.create(withSecret("two", 2, 150), 10);
  expect([await find(1), await find(2), await find(3)]).toEqual(["one", "two", undefined]);
  expect([await find(2, 149), await find(2, 150)]).toEqual(["two", undefined]);
  const claim = { id: "one", ownerFid: 3, nowSecs: 100 };
  const secret = { uid: crypto.randomUUID(), value: value(4), createdAt: 100, expiresAt: null };
  await apps.rotateSecret(claim, { secret, graceEndsAt: 160, maxSecrets: 5 });
  expect([await find(1, 159), await find(4, 159)]).toEqual(["one", "one"]);
  expect([await find(1, 160), await find(4, 160)]).toEqual([undefined, "one"]);
  await apps.delete(claim);
  expect(await find(4)).toBeUndefined();
});

test("the secret of a webhook does not authenticate an app", async () => {
  const secret = makeSecret(7);
  const webhook = { webhookId: crypto.randomUUID(), ownerFid: 3, title: "T", targetUrl: "https://t.example" };
  const rest = { description: null, active: true, subscription: { "user.created": {} } } as const;
  const store = localStores(db).webhooks;
  await store.create(
    {
      ...webhook,
      ...rest,
      compatPrefix: null,
      health: UNTRIED,
      secrets: [secret],
      createdAt: 1,
      updatedAt: 1,
    },
    10,
  );
  expect(await localStores(db).apps.findBySecret(secretDigest(secret.value), 2)).toBeUndefined();
});
