import { describe, expect, test } from "bun:test";
import { createPostgresStores } from "../../../../src/node/state/postgres/open-postgres.ts";
import { openTokenImport } from "../../../../src/push/store/tokens/token-import.ts";
import type { TokenEvent } from "../../../../src/push/store/tokens/token-store.ts";
import { takeCampaign } from "../../../support/campaigns.ts";
import { ManualClock } from "../../../support/clock.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import { startProxy } from "../../../support/postgres/proxy.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { stateDbOf } from "../../../support/postgres/state-db.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
import { testApp } from "../../../support/send.ts";
import { WRONG_TOTALS } from "./token-totals.ts";

const limit = { maxChanges: 3, windowSecs: 60 };
const details = { url: "https://c.example/n", host: "c.example", token: "t" };
const added: TokenEvent = { name: "miniapp_added", details };
const tokens = [1, 2, 3].map((fid) => ({ fid, clientFid: 9 }));
const success = { kind: "success", reason: "", isRetryable: false } as const;
const failure = { kind: "failure", reason: "rate_limited", isRetryable: true } as const;

/** A lost response means that the outcome is unknown. The decision is made once, and the caller gets its result. */
describe.skipIf(!HAS_POSTGRES)("after a response that was lost after the commit", () => {
  async function start() {
    const database = await createDatabase();
    const proxy = startProxy(database.settings.connect.port);
    const pools = database.pools({ port: proxy.port });
    const node = database.node();
    const clock = new ManualClock(100);
    const stores = createPostgresStores(pools, { node, clock: steadyClock(clock), limits: { maxQueued: 1 } });
    await stores.apps.create(testApp({ appId: "app", secrets: [] }), 10);
    /** Runs a write whose first response is lost. */
    const losing = async <T>(write: () => Promise<T>, tag = /^COMMIT/): Promise<T> => {
      const lost = proxy.loseAnswer(tag);
      const result = await write();
      await lost;
      return result;
    };
    const create = (campaignId: string, max: number) =>
      stores.campaigns.create(
        {
          campaignId,
          appId: "app",
          notification: { notificationId: "n", title: "T", body: "B", targetUrl: "https://app.example" },
          audience: { targetFids: [], excludeFids: [], followingFid: null },
          createdAt: 100,
          ledgerSecs: 86_400,
        },
        max,
      );
    return {
      ...stores,
      losing,
      create,
      clock,
      openImport: () => openTokenImport(stateDbOf(pools, clock), { dryRun: false }),
      wrongTotals: () => database.query(WRONG_TOTALS),
      async [Symbol.asyncDispose]() {
        await proxy[Symbol.asyncDispose]();
        await database[Symbol.asyncDispose]();
      },
    };
  }

  test("a token event is applied and counted once", async () => {
    await using state = await start();
    const apply = () =>
      state.tokens.apply({ appId: "app", fid: 5, clientFid: 9, event: added, nowSecs: 100 }, limit);
    for (let nth = 0; nth < 3; nth++) expect(await state.losing(apply)).toBe("applied");
    expect(await apply()).toEqual({ retryAfterSecs: 60 });
    expect(await state.tokens.totals()).toEqual({ enabled: 1, disabled: 0, no_token: 0 });
    expect(await state.wrongTotals()).toEqual([]);
  });

  test("a refused token event is counted once", async () => {
    await using state = await start();
    const subject = { appId: "app", fid: 5 };
    for (let nth = 0; nth < 3; nth++) {
      expect(await state.losing(() => state.tokens.countRefused(subject, limit))).toBeUndefined();
    }
    expect(await state.tokens.countRefused(subject, limit)).toEqual({ retryAfterSecs: 60 });
  });

  test("an imported page and deleted tokens leave the totals of the rows", async () => {
    await using state = await start();
    using into = state.openImport();
    const list = [1, 2, 3].map((fid) => ({
      appId: "app",
      fid,
      clientFid: 0,
      details,
      isEnabled: true,
      createdAt: 50,
      updatedAt: 50,
    }));
    await state.losing(() => into.put(list, 100));
    expect(await state.tokens.totals()).toEqual({ enabled: 3, disabled: 0, no_token: 0 });
    await state.losing(() =>
      state.tokens.deleteMatching([{ appId: "app", fid: 1, clientFid: 0, token: "t" }]),
    );
    expect(await state.tokens.totals()).toEqual({ enabled: 2, disabled: 0, no_token: 0 });
    expect(await state.wrongTotals()).toEqual([]);
  });

  test("a campaign is created once, also as the last that its app may have", async () => {
    await using state = await start();
    expect(await state.losing(() => state.create("c", 1))).toBe("created");
    expect(await state.create("d", 1)).toBe("too-many");
    expect(await state.campaigns.waiting()).toMatchObject({ count: 1 });
  });

  test("a campaign is taken by a run whose response arrived, released and ended once", async () => {
    await using state = await start();
    const { campaigns, losing, clock } = state;
    await state.create("c", 1);
    const first = await losing(() => takeCampaign(campaigns, "c"));
    await losing(() => campaigns.release(first, 1_000), /^UPDATE/);
    expect(await campaigns.waiting()).toMatchObject({ count: 1 });
    clock.advanceSecs(1);
    const work = await losing(() => takeCampaign(campaigns, "c"));
    expect(await losing(() => campaigns.end(work, "completed", 200))).toBe("ended");
    expect(await campaigns.find("c")).toMatchObject({ status: "completed", endedAt: 200 });
    expect(await campaigns.end(first, "aborted", 300)).toBe("taken");
  });

  test("claims, results and tokens that were not attempted count once", async () => {
    await using state = await start();
    const { campaigns, ledger, losing } = state;
    await state.create("c", 1);
    const work = await takeCampaign(campaigns, "c");
    expect((await losing(() => ledger.claim(work, tokens, 30))).claimed).toEqual(tokens);
    const results = { tokens, outcomes: [success, failure, success] };
    await losing(() => ledger.record(work, "h", results, 86_400));
    await losing(() => ledger.setNotAttempted(work, "h", { excluded: 4 }));
    expect(await campaigns.find("c")).toMatchObject({
      counts: { success: 2, failure: 1, notAttempted: 4 },
    });
    expect((await campaigns.breakdown("c", 9)).byReason).toEqual([
      { kind: "failure", reason: "rate_limited", count: 1 },
      { kind: "not_attempted", reason: "excluded", count: 4 },
      { kind: "success", reason: "", count: 2 },
    ]);
    expect((await ledger.claim(work, tokens, 30)).alreadyCounted).toEqual(tokens);
  });
});
