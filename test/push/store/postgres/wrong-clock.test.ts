import { expect, test } from "bun:test";
import { createPostgresStores } from "../../../../src/node/state/postgres/open-postgres.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import { addLiveNode } from "../../../support/postgres/live-node.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { testApp } from "../../../support/send.ts";

const HOUR_MS = 3_600_000;

test.skipIf(!HAS_POSTGRES)(
  "a node whose clock is an hour ahead does not take the runs of live nodes",
  async () => {
    await using database = await createDatabase();
    const storesAt = async (aheadMs: number) => {
      const node = await addLiveNode(database);
      const nowMs = () => Date.now() + aheadMs;
      const clock = { nowMs, dueMs: nowMs, sweepableSecs: () => Math.floor(nowMs() / 1000) };
      return createPostgresStores(database.pools(), { node, clock, limits: { maxQueued: 1 } });
    };
    const [owner, ahead] = [await storesAt(0), await storesAt(HOUR_MS)];
    // Leases of 8 seconds.
    await database.query("UPDATE nodes SET ends_at_ms = extract(epoch FROM clock_timestamp()) * 1000 + 8000");
    await owner.apps.create(testApp(), 10);
    await owner.campaigns.create(
      {
        campaignId: "c1",
        appId: testApp().appId,
        notification: { notificationId: "n1", title: "t", body: "b", targetUrl: "https://app.example" },
        audience: { targetFids: [], excludeFids: [], followingFid: null },
        createdAt: 1,
        ledgerSecs: 60,
      },
      10,
    );
    const room = { running: [], maxRunning: 32, maxRunningOfApp: 8 };
    expect(await ahead.campaigns.take(room, 1_000)).toEqual([]);
    expect(await owner.campaigns.take(room, 1_000)).toHaveLength(1);
  },
);
