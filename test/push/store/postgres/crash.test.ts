import { expect, test } from "bun:test";
import { createPostgresStores } from "../../../../src/node/state/postgres/open-postgres.ts";
import { RunLost } from "../../../../src/push/store/campaigns/campaign-store.ts";
import { takeCampaign } from "../../../support/campaigns.ts";
import { ManualClock } from "../../../support/clock.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES, startPostgres } from "../../../support/postgres/server.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
import { testApp } from "../../../support/send.ts";

const tokens = [1, 2, 3].map((fid) => ({ fid, clientFid: 9 }));
const outcomes = tokens.map(() => ({ kind: "success", reason: "", isRetryable: false }) as const);

test.skipIf(!HAS_POSTGRES)(
  "a run whose writes a crash of PostgreSQL undid writes no more and does not end its campaign, which is run again",
  async () => {
    await using server = await startPostgres();
    await using database = await createDatabase({ server });
    const clock = steadyClock(new ManualClock(100));
    const stores = createPostgresStores(database.pools(), {
      node: database.node(),
      clock,
      limits: { maxQueued: 1 },
    });
    const { campaigns, ledger } = stores;
    await stores.apps.create(testApp({ appId: "app", secrets: [] }), 10);
    const runs = [];
    for (const campaignId of ["ends", "writes"]) {
      const notification = {
        notificationId: campaignId,
        title: "T",
        body: "B",
        targetUrl: "https://app.example",
      };
      const audience = { targetFids: [], excludeFids: [], followingFid: null };
      const campaign = {
        campaignId,
        appId: "app",
        notification,
        audience,
        createdAt: 100,
        ledgerSecs: 86_400,
      };
      await campaigns.create(campaign, 10);
      const run = await takeCampaign(campaigns, campaignId, { running: runs });
      await ledger.claim(run, tokens, 40);
      runs.push(run);
    }
    // A synced commit, which makes those before it durable; then nothing writes the log but a commit that waits for it.
    await database.query("CREATE TABLE public.synced ()");
    const [walWriter] = await database.query(
      "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'",
    );
    process.kill(Number(walWriter?.pid), "SIGSTOP");
    for (const run of runs) await ledger.record(run, "client.example", { tokens, outcomes }, 1_000);
    await server.kill();
    await server.restart();

    const [ends, writes] = runs;
    if (!ends || !writes) throw new Error("there are no runs");
    const [before] = await database.query("SELECT sum(success_count)::int AS successes FROM campaigns");
    expect(before?.successes).toBe(0);
    expect(await campaigns.end(ends, "completed", 200)).toBe("undone");
    const refused = await ledger.setNotAttempted(writes, "client.example", { duplicate: 1 }).catch((e) => e);
    expect([refused instanceof RunLost, refused.why]).toEqual([true, "undone"]);
    for (const { campaignId, epoch } of runs) {
      const again = await takeCampaign(campaigns, campaignId, {
        running: runs.filter((run) => run.campaignId !== campaignId),
      });
      expect(again.epoch).toBe(epoch + 1);
      expect((await ledger.claim(again, tokens, 40)).claimed).toEqual(tokens);
      await ledger.record(again, "client.example", { tokens, outcomes }, 1_000);
      expect(await campaigns.end(again, "completed", 300)).toBe("ended");
      expect((await campaigns.find(campaignId))?.counts).toEqual({ success: 3, failure: 0, notAttempted: 0 });
    }
  },
  180_000,
);
