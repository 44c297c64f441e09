import { expect, test } from "bun:test";
import { join } from "node:path";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { openWriter } from "../../../../src/db/sqlite/open.ts";
import { openState, openStateReader, statePath } from "../../../../src/db/state/database.ts";
import { openWriterOf } from "../../../../src/node/state/open-writer.ts";
import { createStateStores, createStateSweeps } from "../../../../src/node/state/sqlite-stores.ts";
import { verifyState } from "../../../../src/node/state/verify.ts";
import type { Clock } from "../../../../src/runtime/clock.ts";
import { UNTRIED } from "../../../../src/webhooks/store/webhook-store.ts";
import { tempDir } from "../../../support/program.ts";
import { localStores } from "../../../support/state-stores.ts";
import { type DeliveryFixture, MAX_QUEUED } from "../delivery-fixture.ts";
import { deliveryStoresContract } from "../delivery-stores-contract.ts";

const limits = { maxQueued: MAX_QUEUED };

/** Reads use a separate connection beside the writer's, as in the node. */
async function openFiles(clock: Clock): Promise<DeliveryFixture> {
  const dir = tempDir();
  const written = openState(statePath(dir.path));
  // These tests are not about the disk, and each of some hundred commits would wait for it.
  written.syncCommits = () => undefined;
  written.sqlite.exec("PRAGMA synchronous = OFF");
  const read = openStateReader(statePath(dir.path));
  const openProcess = () => {
    const writer = openWriterOf(written, { limits, clock, monotonicMs: () => clock.nowMs() });
    return writer.call.bind(writer);
  };
  const call = openProcess();
  const { deliveryLog: log, ...stores } = createStateStores(read, call);
  return {
    ...stores,
    log,
    sweeps: createStateSweeps(read, call),
    nextProcess: async () => createStateStores(read, openProcess()).queue,
    rows: async (table) =>
      read.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? -1,
    async [Symbol.asyncDispose]() {
      expect(verifyState(written)).toEqual([]);
      for (const db of [read, written]) db[Symbol.dispose]();
      dir[Symbol.dispose]();
    },
  };
}

deliveryStoresContract("deliveries in SQLite", openFiles);

test("migrates webhooks of an older version: they get events and a health", async () => {
  using dir = tempDir();
  const path = statePath(dir.path);
  const migrations = readMigrationFiles({
    migrationsFolder: join(import.meta.dir, "../../../../drizzle/state"),
  });
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
  expect((await localStores(db).webhooks.find("older", 2))?.health).toEqual(UNTRIED);
  const event = {
    eventId: "e",
    kind: "user.created",
    createdAt: 5,
    body: "{}",
    webhookIds: ["older"],
  } as const;
  const publications = localStores(db).publications;
  const { version, changed } = await publications.changesSince(0);
  expect(changed.map(({ webhookId }) => webhookId)).toEqual(["older"]);
  const published = await publications.publish({ version, nowSecs: 5, events: [event] });
  expect(published).toMatchObject({ queued: 1, webhookIds: ["older"] });
});
