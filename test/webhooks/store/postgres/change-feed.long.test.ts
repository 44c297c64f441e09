import { describe, expect, test } from "bun:test";
import {
  createPostgresStores,
  createPostgresSweeps,
} from "../../../../src/node/state/postgres/open-postgres.ts";
import { hasWebhookChanged, readWebhookChanges } from "../../../../src/webhooks/store/webhook-changes.ts";
import { ManualClock } from "../../../support/clock.ts";
import { IS_LONG } from "../../../support/long.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { stateDbOf } from "../../../support/postgres/state-db.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
import { webhookItems } from "../webhook-items.ts";

const WRITERS = 6;
const CHANGES_PER_WRITER = IS_LONG ? 150 : 25;

const limits = { maxQueued: 100 };
const webhook = (n: number, ownerFid: number) =>
  webhookItems.makeItem(n, { ownerFid, secrets: [], createdAt: 100, updatedAt: 100 });

describe.skipIf(!HAS_POSTGRES)("the change feed of webhooks", () => {
  test("shows each change of concurrent writers to a reader that follows the versions", async () => {
    await using database = await createDatabase();
    const options = { clock: steadyClock(new ManualClock(100)), node: database.node(), limits };
    const writers = [...Array(WRITERS).keys()].map((writer) => ({
      ownerFid: writer + 1,
      store: createPostgresStores(database.pools({ main: 2 }), options).webhooks,
    }));
    let written = 0;
    const writing = Promise.all(
      writers.map(async ({ ownerFid, store }) => {
        for (let n = 0; n < CHANGES_PER_WRITER; n++) {
          await store.create(webhook(ownerFid * 1_000 + n, ownerFid), 1_000);
          written += 1;
        }
      }),
    );
    const reader = stateDbOf(database.pools());
    const seen: string[] = [];
    let version = 0;
    while (written < WRITERS * CHANGES_PER_WRITER || (await hasWebhookChanged(reader, version))) {
      const changes = await readWebhookChanges(reader, version);
      seen.push(...changes.changed.map(({ webhookId }) => webhookId));
      version = changes.version;
    }
    await writing;
    expect(seen).toHaveLength(WRITERS * CHANGES_PER_WRITER);
    expect(new Set(seen).size).toBe(seen.length);
  });

  test("moves a changed or deleted webhook to the end, and forgets deletions after a day", async () => {
    await using database = await createDatabase();
    const clock = new ManualClock(100);
    const pools = database.pools();
    const options = { clock: steadyClock(clock), node: database.node(), limits };
    const { webhooks } = createPostgresStores(pools, options);
    for (const n of [1, 2]) await webhooks.create(webhook(n, 3), 10);
    const before = await readWebhookChanges(stateDbOf(pools), 0);
    expect(before.changed.map(({ webhookId }) => webhookId)).toEqual(["webhook-1", "webhook-2"]);
    await webhooks.update({ id: "webhook-1", ownerFid: 3, nowSecs: 101 }, { active: false });
    await webhooks.delete({ id: "webhook-2", ownerFid: 3, nowSecs: 102 });
    const after = await readWebhookChanges(stateDbOf(pools), before.version);
    expect(after.changed).toMatchObject([{ webhookId: "webhook-1", active: false, ownerFid: 3 }]);
    expect(after.deleted).toEqual(["webhook-2"]);
    clock.setSecs(102 + 86_400 + 61);
    for (const { step } of createPostgresSweeps(pools, options)) await step(100);
    expect((await readWebhookChanges(stateDbOf(pools), 0)).deleted).toEqual([]);
  });
});
