import { expect, test } from "bun:test";
import type { CallLimit } from "../../../src/webhooks/store/delivery-queue.ts";
import { messageIdOf } from "../../../src/webhooks/store/queue-events.ts";
import {
  describeDeliveries,
  MAX_QUEUED,
  NOW,
  NOW_MS,
  type OpenDeliveries,
  plenty,
} from "./delivery-fixture.ts";

export function rateLimitContract(name: string, open: OpenDeliveries): void {
  describeDeliveries(`${name}: rate limit of calls`, open, (start) => {
    test("no interval of the window's length has more calls than the limit", async () => {
      const { addWebhook, publish, event, claim, settle } = await start();
      const hook = await addWebhook(1);
      await publish(Array.from({ length: MAX_QUEUED }, (_, n) => event(n, hook)));
      const limit: CallLimit = { calls: 5, windowMs: 6_000, maxWaitMs: 900_000 };
      const begunAt: number[] = [];
      let nowMs = NOW_MS;
      while (begunAt.length < MAX_QUEUED) {
        const claimed = await claim(hook, nowMs, limit);
        if (claimed?.delivery) {
          begunAt.push(nowMs);
          await settle(claimed.delivery, { kind: "delivered" }, { atMs: nowMs });
        }
        const nextAtMs = claimed?.nextAtMs ?? nowMs;
        expect(nextAtMs >= nowMs || claimed?.delivery !== undefined).toBe(true);
        nowMs = Math.max(nowMs + 7, nextAtMs);
      }
      for (const [at, from] of begunAt.entries()) {
        const within = begunAt.slice(at).filter((time) => time < from + limit.windowMs);
        expect(within.length).toBeLessThanOrEqual(limit.calls);
      }
      // And not many fewer.
      expect((begunAt.at(-1) ?? 0) - NOW_MS).toBeLessThan((MAX_QUEUED / limit.calls) * limit.windowMs * 1.05);
    });

    test("the rate limit holds for calls that start after the longest hold", async () => {
      const { addWebhook, publish, event, claimMany } = await start();
      const hook = await addWebhook(1);
      await publish([event(1, hook), event(2, hook)]);
      const limit = { ...plenty, calls: 1 };
      await claimMany(hook, 1, { limit, maxHoldMs: 5_000 });
      const early = await claimMany(hook, 1, { limit, maxHoldMs: 5_000, nowMs: NOW_MS + 64_999 });
      expect(early?.deliveries).toEqual([]);
      const nowMs = early?.nextAtMs ?? 0;
      expect(nowMs).toBeLessThanOrEqual(NOW_MS + 66_000);
      expect((await claimMany(hook, 1, { limit, maxHoldMs: 5_000, nowMs }))?.deliveries).toHaveLength(1);
    });

    test("the limit holds over a restart, and each webhook has its own", async () => {
      const { addWebhook, publish, event, claim, take } = await start();
      const hooks = [await addWebhook(1), await addWebhook(2)];
      await publish([event(1, ...hooks), event(2, ...hooks)]);
      const limit = { ...plenty, calls: 1 };
      expect((await claim("hook-1", NOW_MS, limit))?.delivery).toBeDefined();
      // A new process has only the store.
      const held = await claim("hook-1", NOW_MS + 59_000, limit);
      expect(held?.delivery).toBeUndefined();
      expect(held?.nextAtMs).toBeGreaterThan(NOW_MS + 59_000);
      expect(held?.nextAtMs).toBeLessThanOrEqual(NOW_MS + 61_000);
      await take("hook-2");
    });

    test("deliveries that the rate limit delays beyond the longest wait are dropped and counted; others are not", async () => {
      const { addWebhook, publish, event, claim, list, health, log } = await start();
      const hook = await addWebhook(1);
      const limit: CallLimit = { calls: 1, windowMs: 3_600_000, maxWaitMs: 900_000 };
      await publish([event(1, hook), event(2, hook), event(3, hook)]);
      await publish([event(4, hook)], NOW + 600);
      expect((await claim(hook, NOW_MS, limit))?.delivery?.body).toBe('{"n":1}');
      const atEnd = await claim(hook, NOW_MS + 899_999, limit);
      expect([atEnd?.delivery, atEnd?.dropped]).toEqual([undefined, 0]);
      expect(atEnd?.nextAtMs).toBe(NOW_MS + 900_000);
      const over = await claim(hook, NOW_MS + 900_000, { ...limit, calls: 1 });
      // The lease of the first has expired by then; a settlement under it would have no effect.
      expect(over?.dropped).toBe(2);
      expect(await health(hook)).toMatchObject({ dropped: 2, queued: 2 });
      expect((await list(hook, "dropped")).map(({ messageId }) => messageId).sort()).toEqual(
        [messageIdOf("event-2", hook), messageIdOf("event-3", hook)].sort(),
      );
      expect((await list(hook, "dropped"))[0]).toMatchObject({ endedAt: NOW + 900, nextAttemptAtMs: null });
      expect(await log.totals()).toMatchObject({ dropped: 2, queued: 2 });
    });

    test("a backlog that the rate limit did not delay is not dropped for its age", async () => {
      const { addWebhook, publish, event, claim } = await start();
      const hook = await addWebhook(1);
      await publish([event(1, hook), event(2, hook), event(3, hook)]);
      // The node was down for an hour.
      const hourLater = NOW_MS + 3_600_000;
      expect((await claim(hook, hourLater))?.delivery?.body).toBe('{"n":1}');
      const next = await claim(hook, hourLater + 899_999);
      expect([next?.delivery?.body, next?.dropped]).toEqual(['{"n":2}', 0]);
    });

    test("a requested delay of a receiver applies to its deliveries, which are not dropped for it", async () => {
      const { addWebhook, publish, event, claim, take, settle } = await start();
      const hook = await addWebhook(1);
      await publish([event(1, hook), event(2, hook)]);
      const heldUntil = NOW_MS + 3_600_000;
      const outcome = { kind: "retry", dueAtMs: heldUntil } as const;
      await settle(await take(hook), outcome, { holdUntilMs: heldUntil });
      const held = await claim(hook, heldUntil - 1);
      expect([held?.delivery, held?.dropped, held?.nextAtMs]).toEqual([undefined, 0, heldUntil]);
      expect((await take(hook, heldUntil)).body).toBe('{"n":2}');
    });
  });
}
