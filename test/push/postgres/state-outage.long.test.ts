import { describe, expect, test } from "bun:test";
import { openIndexInMemory } from "../../../src/db/index/database.ts";
import { createSteadyClock } from "../../../src/db/state/state-clock.ts";
import { createFanOut } from "../../../src/node/compose/sending/fan-out.ts";
import { createPostgresStores } from "../../../src/node/state/postgres/open-postgres.ts";
import { nowSecs, systemClock } from "../../../src/runtime/clock.ts";
import { configWith } from "../../runtime/config.ts";
import { silentLog } from "../../support/log.ts";
import { IS_LONG } from "../../support/long.ts";
import { loopbackClient } from "../../support/loopback-client.ts";
import { until } from "../../support/manual-time.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { startProxy } from "../../support/postgres/proxy.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { allServed, startPushClient } from "../../support/push-client.ts";
import { APP_ID, testApp, testTimings } from "../../support/send.ts";

const TOKENS = 3_000;

describe.skipIf(!HAS_POSTGRES)("a campaign while PostgreSQL is away", () => {
  async function start() {
    const database = await createDatabase({ timeoutMs: 500 });
    const proxy = startProxy(database.settings.connect.port);
    const gate = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const client = startPushClient(async (request, nth) => {
      if (nth >= 10) {
        held.resolve();
        await gate.promise;
      }
      return allServed(request, nth);
    });
    const stores = createPostgresStores(database.pools({ port: proxy.port }), {
      node: database.node(),
      clock: createSteadyClock({ clock: systemClock }),
      limits: { maxQueued: 1 },
    });
    await stores.apps.create(testApp(), 10);
    await database.query(
      `INSERT INTO tokens (app_id, fid, client_fid, url, host, token, enabled, last_event, created_at, updated_at)
       SELECT '${APP_ID}', n, 9152, 'http://c.example:${client.port}/', 'c.example:${client.port}', 't' || n, true,
         'miniapp_added', 1, 1 FROM generate_series(1, ${TOKENS}) AS n`,
    );
    await stores.campaigns.create(
      {
        campaignId: "c",
        appId: APP_ID,
        notification: { notificationId: "n", title: "T", body: "B", targetUrl: "https://app.example" },
        audience: { targetFids: [], excludeFids: [], followingFid: null },
        createdAt: nowSecs(systemClock),
        ledgerSecs: 86_400,
      },
      10,
    );
    const index = openIndexInMemory();
    let aheadMs = 0;
    const engine = createFanOut({
      common: { config: configWith(), clock: systemClock, log: silentLog },
      index,
      state: stores,
      client: loopbackClient(),
      timings: { ...testTimings, timeoutMs: 20_000 },
      monotonicMs: () => performance.now() + aheadMs,
    });
    return {
      stores,
      engine,
      proxy,
      client,
      held: held.promise,
      release: () => gate.resolve(),
      advanceMs(ms: number) {
        aheadMs += ms;
      },
      async [Symbol.asyncDispose]() {
        await engine.stop(0);
        await client[Symbol.asyncDispose]();
        await proxy[Symbol.asyncDispose]();
        await database[Symbol.asyncDispose]();
        index[Symbol.dispose]();
      },
    };
  }

  test("keeps the outcomes of calls in flight, stores them when it is back, and sends every token once", async () => {
    await using outage = await start();
    const { stores, engine, proxy, client } = outage;
    const ended = engine.run("c");
    await outage.held;
    proxy.cut();
    outage.release();
    // The calls in flight end, and no page is read for further ones.
    await expect(stores.campaigns.find("c")).rejects.toThrow();
    const calls = client.requests.length;
    expect(calls).toBeLessThan(TOKENS / 100);
    proxy.heal();
    expect(await ended).toBeDefined();
    expect(await stores.campaigns.find("c")).toMatchObject({
      status: "completed",
      counts: { success: TOKENS, failure: 0, notAttempted: 0 },
    });
    expect([client.shown.size, Math.max(...client.shown.values())]).toEqual([TOKENS, 1]);
  });

  test.skipIf(!IS_LONG)(
    "keeps no caller waiting for more than 10 seconds, and continues afterwards",
    async () => {
      await using outage = await start();
      const { stores, engine, proxy } = outage;
      const ended = engine.run("c");
      await outage.held;
      proxy.cut();
      await expect(stores.campaigns.find("c")).rejects.toThrow();
      let isWaiting = true;
      void ended.then(() => {
        isWaiting = false;
      });
      expect(isWaiting).toBe(true);
      outage.advanceMs(10_000);
      expect(await ended).toBeUndefined();
      proxy.heal();
      outage.release();
      await until(
        async () => (await stores.campaigns.find("c").catch(() => undefined))?.status === "completed",
      );
      expect((await stores.campaigns.find("c"))?.counts.success).toBe(TOKENS);
    },
  );
});
