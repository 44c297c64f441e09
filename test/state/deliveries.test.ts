import { expect, test } from "bun:test";
import { join } from "node:path";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { openWriter } from "../../src/lib/sqlite/open.ts";
import { openState, statePath } from "../../src/state/database.ts";
import { UNTRIED } from "../../src/state/records.ts";
import { createDeliveryLog } from "../../src/state/sqlite/delivery-log.ts";
import { createDeliveryPublications } from "../../src/state/sqlite/delivery-publications.ts";
import { createDeliveryQueue } from "../../src/state/sqlite/delivery-queue.ts";
import { createStateSweeps } from "../../src/state/sqlite/sweeps.ts";
import { createWebhookStore } from "../../src/state/sqlite/webhook-store.ts";
import { verifyState } from "../../src/state/verify.ts";
import { tempDir } from "../support/program.ts";
import { type DeliveryFixture, deliveryStoreContract, MAX_QUEUED } from "./contracts/delivery-store.ts";

const limits = { maxQueued: MAX_QUEUED };

/** Each store on a connection of its own, as in the node. */
function openFiles(): DeliveryFixture {
  const dir = tempDir();
  const open = () => openState(statePath(dir.path));
  const [management, worker, maintenance] = [open(), open(), open()];
  // Nothing here is about the disk, and every commit of a few hundred would wait for it.
  for (const db of [management, worker, maintenance]) db.sqlite.exec("PRAGMA synchronous = OFF");
  return {
    webhooks: createWebhookStore(management),
    publications: createDeliveryPublications(worker, limits),
    queue: createDeliveryQueue(worker),
    log: createDeliveryLog(management, limits),
    sweeps: createStateSweeps(maintenance),
    rows: (table) =>
      management.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? -1,
    [Symbol.dispose]() {
      expect(verifyState(management)).toEqual([]);
      for (const db of [management, worker, maintenance]) db[Symbol.dispose]();
      dir[Symbol.dispose]();
    },
  };
}

deliveryStoreContract("deliveries in SQLite", openFiles);

test("webhooks of an older version are taken over: they get events, and have a health", async () => {
  using dir = tempDir();
  const path = statePath(dir.path);
  const migrations = readMigrationFiles({ migrationsFolder: join(import.meta.dir, "../../drizzle/state") });
  const old = openWriter(
    { database: "state", file: path },
    { migrations: migrations.slice(0, 3), cacheKib: 1024, checkpointPages: 1000, mayCreate: true },
  );
  old.run(
    `INSERT INTO webhooks (webhook_id, owner_fid, title, target_url, active, subscription, created_at, updated_at)
     VALUES ('older', 3, 'T', 'https://older.example', 1, '{"user.created":{}}', 1, 1)`,
  );
  old.close();
  using db = openState(path);
  expect((await createWebhookStore(db).find("older", 2))?.health).toEqual(UNTRIED);
  const event = {
    eventId: "e",
    kind: "user.created",
    createdAt: 5,
    body: "{}",
    webhookIds: ["older"],
  } as const;
  const publications = createDeliveryPublications(db, limits);
  const { version, changed } = await publications.changesSince(0);
  expect(changed.map(({ webhookId }) => webhookId)).toEqual(["older"]);
  const published = await publications.publish({ version, nowSecs: 5, events: [event] });
  expect(published).toMatchObject({ queued: 1, webhookIds: ["older"] });
});
