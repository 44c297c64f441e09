import { describe, expect, test } from "bun:test";
import { createPostgresStores } from "../../../../src/node/state/postgres/open-postgres.ts";
import type { QueuedEvent } from "../../../../src/webhooks/store/delivery-publications.ts";
import type { Verdict } from "../../../../src/webhooks/store/delivery-queue.ts";
import { ManualClock } from "../../../support/clock.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import { startProxy } from "../../../support/postgres/proxy.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
import { LEASE_MS, NOW, NOW_MS, plenty, rule } from "../delivery-fixture.ts";
import { webhookItems } from "../webhook-items.ts";
import { wrongCounts } from "./wrong-counts.ts";

const HOOK = "webhook-1";
const own = { id: HOOK, ownerFid: 3, nowSecs: NOW };
const attempt = { atMs: NOW_MS, status: 200, error: null, durationMs: 5, responseText: "ok" };

/** A lost response means that the outcome is unknown. The decision is made once. */
describe.skipIf(!HAS_POSTGRES)("after a response that was lost after the commit", () => {
  async function start() {
    const database = await createDatabase();
    const proxy = startProxy(database.settings.connect.port);
    const node = database.node();
    const options = { node, clock: steadyClock(new ManualClock(NOW)), limits: { maxQueued: 100 } };
    const { publications, queue, deliveryLog, webhooks } = createPostgresStores(
      database.pools({ port: proxy.port }),
      options,
    );
    await webhooks.create(
      webhookItems.makeItem(1, { ownerFid: 3, secrets: [], createdAt: NOW, updatedAt: NOW }),
      10,
    );
    const events = Array.from(
      { length: 5 },
      (_, n): QueuedEvent => ({
        eventId: `event-${n}`,
        kind: "cast.created",
        createdAt: NOW,
        body: "{}",
        webhookIds: [HOOK],
      }),
    );
    const publish = async () => {
      const { version } = await publications.changesSince(0);
      return publications.publish({ version, nowSecs: NOW, events });
    };
    const claim = async (max: number) => {
      const lease = { nowMs: NOW_MS, leaseEndsAtMs: NOW_MS + LEASE_MS, maxRetryDelayMs: 3_600_000 };
      const claimed = await queue.claim({ webhookId: HOOK, ...lease, limit: plenty, max, maxHoldMs: 0 });
      return claimed?.deliveries ?? [];
    };
    const settle = async (verdict: Verdict) => {
      const deliveries = await claim(9);
      return queue.settle(
        deliveries.map((delivery) => ({ delivery, attempt, verdict, holdUntilMs: null })),
        rule,
      );
    };
    return {
      publish,
      claim,
      settle,
      queue,
      publications,
      log: deliveryLog,
      webhooks,
      attempts: () => database.rows("delivery_attempts"),
      counted: () =>
        database.query(
          "SELECT sum(attempts)::int AS attempts, sum(delivered)::int AS delivered FROM attempt_stats",
        ),
      /** Runs a write whose first response is lost. */
      async losing<T>(write: () => Promise<T>, tag = /^COMMIT/): Promise<T> {
        const lost = proxy.loseAnswer(tag);
        const result = await write();
        await lost;
        return result;
      },
      async [Symbol.asyncDispose]() {
        expect(await wrongCounts(database)).toEqual([]);
        await proxy[Symbol.asyncDispose]();
        await database[Symbol.asyncDispose]();
      },
    };
  }

  test("events are queued once", async () => {
    await using state = await start();
    expect(await state.losing(state.publish)).not.toBe("changed");
    expect(await state.log.totals()).toMatchObject({ queued: 5 });
  });

  test("settlements are logged and counted once", async () => {
    await using state = await start();
    await state.publish();
    const deliveries = await state.claim(9);
    const settlements = deliveries.map((delivery) => ({
      delivery,
      attempt,
      verdict: { kind: "delivered" } as const,
      holdUntilMs: null,
    }));
    await state.losing(() => state.queue.settle(settlements, rule));
    expect(await state.log.totals()).toEqual({ queued: 0, delivered: 5, failed: 0, dropped: 0 });
    expect(await state.attempts()).toBe(5);
    expect(await state.counted()).toEqual([{ attempts: 5, delivered: 5 }]);
  });

  test("a claim that got no response is left to its lease, and the next deliveries are claimed", async () => {
    await using state = await start();
    await state.publish();
    const claimed = await state.losing(() => state.claim(2));
    expect(claimed).toHaveLength(2);
    // Two are leased without anybody that knows of it.
    expect(await state.claim(9)).toHaveLength(1);
    await state.losing(() => state.queue.unclaim(claimed));
    expect(await state.claim(9)).toHaveLength(2);
  });

  test("a webhook is deactivated once, and the caller learns that it was", async () => {
    await using state = await start();
    const { version } = await state.publications.changesSince(0);
    const deactivation = { webhookId: HOOK, reason: "a reason", version, nowSecs: NOW };
    expect(await state.losing(() => state.publications.deactivate(deactivation))).toBe(true);
    expect(await state.publications.deactivate(deactivation)).toBe(false);
    expect(await state.webhooks.find(HOOK, NOW)).toMatchObject({
      active: false,
      health: { deactivationReason: "a reason" },
    });
  });

  test("replays and tests are queued once, and say so", async () => {
    await using state = await start();
    await state.publish();
    await state.settle({ kind: "failed" });
    const failed = { webhookId: HOOK, state: "failed", after: undefined, max: 1 } as const;
    const [newest] = (await state.log.list(failed)).deliveries;
    expect(await state.losing(() => state.log.replay(own, newest?.messageId ?? "", NOW_MS))).toBe("queued");
    const range = { fromSecs: 0, toSecs: NOW };
    const page = { after: undefined, max: 2, nowMs: NOW_MS };
    const replayed = await state.losing(() => state.log.replayRange(own, range, page));
    expect(replayed).toMatchObject({ queued: 2, last: { createdAt: NOW } });
    expect(await state.log.totals()).toMatchObject({ queued: 3, failed: 2 });
    const tests = [1, 2].map((n) => ({
      eventId: `test-${n}`,
      kind: "user.created" as const,
      createdAt: NOW,
      body: "{}",
    }));
    expect(await state.losing(() => state.log.queueTests(own, tests, NOW_MS))).toBe("queued");
    expect(await state.log.totals()).toMatchObject({ queued: 5 });
  });
});
