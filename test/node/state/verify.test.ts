import { expect, test } from "bun:test";
import { openStateInMemory, type StateDatabase } from "../../../src/db/state/database.ts";
import { verifyState } from "../../../src/node/state/verify.ts";
import { UNTRIED } from "../../../src/webhooks/store/webhook-store.ts";
import { makeSecret } from "../../management/owned-store-contract.ts";
import { APP_ID, insertTokens, testApp } from "../../support/send.ts";
import { localStores } from "../../support/state-stores.ts";

/** A state with rows in every table, written by the stores. */
async function filledState(): Promise<StateDatabase> {
  const db = openStateInMemory();
  await localStores(db).apps.create(testApp(), 10);
  await localStores(db).webhooks.create(
    {
      webhookId: "hook",
      ownerFid: 3,
      title: "T",
      targetUrl: "https://hook.example",
      description: null,
      active: true,
      subscription: { "user.created": {} },
      compatPrefix: null,
      health: UNTRIED,
      secrets: [makeSecret(1)],
      createdAt: 100,
      updatedAt: 100,
    },
    10,
  );
  insertTokens(db, [{ fid: 10, url: "https://client.example/", token: "t" }]);
  db.sqlite.exec("INSERT OR REPLACE INTO token_totals (state, count) VALUES ('enabled', 1)");
  const publications = localStores(db).publications;
  const { version } = await publications.changesSince(0);
  const event = {
    eventId: "e",
    kind: "user.created",
    createdAt: 100,
    body: "{}",
    webhookIds: ["hook"],
  } as const;
  await publications.publish({ version, nowSecs: 100, events: [event] });
  await localStores(db).campaigns.create(
    {
      campaignId: "campaign",
      appId: APP_ID,
      notification: { notificationId: "n", title: "T", body: "B", targetUrl: "https://app.example" },
      audience: { targetFids: [], excludeFids: [], followingFid: null },
      createdAt: 100,
      ledgerSecs: 86_400,
    },
    10,
  );
  return db;
}

test("a state that its stores wrote has no contradiction", async () => {
  using db = await filledState();
  expect(verifyState(db)).toEqual([]);
});

test.each([
  ["DELETE FROM apps", "secrets without an app, webhook or API key"],
  ["DELETE FROM secrets WHERE holder = 'hook'", "webhooks without a secret in force"],
  ["UPDATE secrets SET expires_at = 1 WHERE holder != 'hook'", "apps without a secret in force"],
  ["UPDATE apps SET signer_fid_allowlist = '[1,'", "apps with an unreadable allowlist"],
  ["UPDATE webhooks SET subscription = '{'", "webhooks with an unreadable subscription"],
  ["DELETE FROM webhook_health", "webhooks without a record of their health"],
  ["DELETE FROM webhook_changes", "webhooks without a change that delivery workers would see"],
  [
    "UPDATE webhook_health SET queued = 2",
    "webhooks whose count of queued deliveries is not that of the deliveries",
  ],
  ["DELETE FROM delivery_events", "deliveries without their event"],
  ["UPDATE deliveries SET due_at_ms = NULL", "deliveries whose state contradicts their times"],
  [
    "INSERT INTO delivery_attempts (delivery, at_ms, duration_ms, answer) VALUES (99, 1, 1, '')",
    "delivery attempts without their delivery",
  ],
  ["UPDATE delivery_totals SET count = 7", "totals of deliveries that are not those of the deliveries"],
  ["DELETE FROM delivery_totals", "totals of deliveries that are not those of the deliveries"],
  ["UPDATE token_totals SET count = 0", "totals of notification tokens that are not those of the tokens"],
  [
    "UPDATE audience_clients SET count = 2",
    "counts of notification tokens by client that are not those of the tokens",
  ],
  ["UPDATE tokens SET url = NULL", "notification tokens that are there in part"],
  ["DELETE FROM campaign_audiences", "campaigns under way without their audience"],
  ["DELETE FROM dedupe_keys", "campaigns under way without the key of their notification"],
  ["INSERT INTO campaign_retryable VALUES (99, 1)", "rows of campaign_retryable without their campaign"],
  [
    "INSERT INTO dedupe VALUES (99, 1, 1, 1, 1, x'00', 1)",
    "recipients of notifications without the key of the notification",
  ],
])("%s is found", async (damage, what) => {
  using db = await filledState();
  db.sqlite.exec(damage);
  expect(verifyState(db)).toContainEqual({ what, rows: 1 });
});
