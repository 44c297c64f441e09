import { expect, test } from "bun:test";
import type { Verdict } from "../../../src/webhooks/store/delivery-queue.ts";
import { DAY, describeDeliveries, NOW, NOW_MS, type OpenDeliveries, rule } from "./delivery-fixture.ts";

export function settlementsContract(name: string, open: OpenDeliveries): void {
  describeDeliveries(`${name}: settlements`, open, (start) => {
    test("every attempt is logged with its response, and with the outcome of the delivery", async () => {
      const { addWebhook, publish, event, take, queue, list, log, health } = await start();
      const hook = await addWebhook(1);
      await publish([event(1, hook)]);
      const failed = {
        atMs: NOW_MS + 1,
        status: null,
        error: "timeout",
        durationMs: 10_000,
        responseText: "",
      };
      const retry = { kind: "retry", dueAtMs: NOW_MS + 20_000 } as const;
      await queue.settle(
        [{ delivery: await take(hook), attempt: failed, verdict: retry, holdUntilMs: null }],
        rule,
      );
      expect(await list(hook)).toEqual([
        expect.objectContaining({
          eventId: "event-1",
          kind: "cast.created",
          isTest: false,
          state: "queued",
          createdAt: NOW,
          endedAt: null,
          nextAttemptAtMs: NOW_MS + 20_000,
          attempts: [failed],
        }),
      ]);
      expect(await health(hook)).toMatchObject({ lastFailureAt: NOW + 10, lastSuccessAt: null, queued: 1 });
      const taken = {
        atMs: NOW_MS + 20_000,
        status: 204,
        error: null,
        durationMs: 7,
        responseText: "danke 🎈",
      };
      await queue.settle(
        [
          {
            delivery: await take(hook, NOW_MS + 20_000),
            attempt: taken,
            verdict: { kind: "delivered" },
            holdUntilMs: null,
          },
        ],
        rule,
      );
      expect(await list(hook, "delivered")).toEqual([
        expect.objectContaining({ endedAt: NOW + 20, nextAttemptAtMs: null, attempts: [failed, taken] }),
      ]);
      expect(await log.totals()).toEqual({ queued: 0, delivered: 1, failed: 0, dropped: 0 });
      expect(await health(hook)).toMatchObject({ lastSuccessAt: NOW + 20, queued: 0 });
    });

    test("settlements of one group are applied in order, each to its own webhook", async () => {
      const { addWebhook, publish, event, claimMany, queue, health, log, list } = await start();
      const hooks = [await addWebhook(1), await addWebhook(2)];
      await publish([1, 2, 3, 4].map((n) => event(n, ...hooks)));
      const attempt = { atMs: NOW_MS, status: 200, error: null, durationMs: 5, responseText: "ok" };
      const settlements = [];
      for (const [at, hook] of hooks.entries()) {
        const kinds = at === 0 ? ["delivered", "failed", "delivered", "failed"] : ["failed", "delivered"];
        const { deliveries = [] } = (await claimMany(hook, kinds.length)) ?? {};
        for (const [n, delivery] of deliveries.entries())
          settlements.push({ delivery, attempt, verdict: { kind: kinds[n] } as Verdict, holdUntilMs: null });
      }
      const repeated = [...settlements, ...settlements.slice(0, 2)];
      expect(await queue.settle(repeated, rule)).toEqual(repeated.map(() => undefined));
      expect(await health("hook-1")).toMatchObject({ queued: 0, consecutiveFailures: 1, lastSuccessAt: NOW });
      expect(await health("hook-2")).toMatchObject({ queued: 2, consecutiveFailures: 0, failingSince: null });
      expect(await log.totals()).toEqual({ queued: 2, delivered: 3, failed: 3, dropped: 0 });
      expect((await list("hook-1")).map(({ attempts }) => attempts.length)).toEqual([1, 1, 1, 1]);
    });

    test("the limit of failed deliveries in a row deactivates a webhook, but only over the minimum time", async () => {
      const { addWebhook, publish, event, take, settle, webhooks, health, own, publications } = await start();
      const hook = await addWebhook(1);
      let published = 0;
      const end = async (kind: "failed" | "delivered", atMs: number) => {
        await publish([event(published++, hook)], Math.floor(atMs / 1000));
        return settle(await take(hook, atMs), { kind }, { atMs });
      };
      const fail = (atMs: number) => end("failed", atMs);
      const dayLater = NOW_MS + DAY * 1000;
      for (const atMs of [NOW_MS, NOW_MS + 1, NOW_MS + 2, NOW_MS + 3])
        expect(await fail(atMs)).toBeUndefined();
      expect(await health(hook)).toMatchObject({ consecutiveFailures: 4, failingSince: NOW });
      // A successful delivery resets the count.
      await end("delivered", dayLater);
      expect(await health(hook)).toMatchObject({ consecutiveFailures: 0, failingSince: null });
      expect(await fail(dayLater)).toBeUndefined();
      expect(await fail(dayLater + 1)).toBeUndefined();
      const { version } = await publications.changesSince(0);
      expect(await fail(2 * dayLater)).toMatch(/^3 deliveries in a row failed/);
      const record = await webhooks.find(hook, NOW);
      expect(record?.active).toBe(false);
      expect(record?.health.deactivationReason).toMatch(/in a row failed/);
      expect(record?.health.deactivatedAt).toBe(Math.floor((2 * dayLater) / 1000));
      expect((await publications.changesSince(version)).changed).toMatchObject([
        { webhookId: hook, active: false },
      ]);
      const again = await webhooks.update(own(hook), { active: true });
      expect(again).toMatchObject({
        active: true,
        health: { consecutiveFailures: 0, failingSince: null, deactivatedAt: null, deactivationReason: null },
      });
      expect(await fail(3 * dayLater)).toBeUndefined();
    });

    test("a receiver that responds with 410 deactivates its webhook at once; attempts in flight change nothing", async () => {
      const { addWebhook, publish, event, take, settle, claim, webhooks, list } = await start();
      const hook = await addWebhook(1);
      await publish([event(1, hook), event(2, hook), event(3, hook)]);
      const [first, second] = [await take(hook), await take(hook)];
      expect(await settle(first, { kind: "gone" })).toContain("410");
      expect(await settle(second, { kind: "gone" })).toBeUndefined();
      expect((await webhooks.find(hook, NOW))?.active).toBe(false);
      expect(await claim(hook)).toBeUndefined();
      expect(await list(hook, "failed")).toHaveLength(2);
      expect(await list(hook, "queued")).toHaveLength(1);
    });
  });
}
