import { expect, test } from "bun:test";
import fc from "fast-check";
import type { CallLimit, Verdict } from "../../../src/webhooks/store/delivery-queue.ts";
import { DAY, describeDeliveries, NOW, NOW_MS, type OpenDeliveries, WEEK } from "./delivery-fixture.ts";

export function deliverySweepsContract(name: string, open: OpenDeliveries): void {
  describeDeliveries(`${name}: sweeps and counts of deliveries`, open, (start) => {
    test("finished deliveries are deleted after a week with their attempts, and the event with its last delivery", async () => {
      const { addWebhook, publish, event, take, settle, sweep, sweepAll, rows, list, log } = await start();
      const hooks = [await addWebhook(1), await addWebhook(2)];
      await publish(Array.from({ length: 20 }, (_, n) => event(n, ...hooks)));
      for (let n = 0; n < 20; n += 1) await settle(await take("hook-1"), { kind: "delivered" });
      expect(await sweep("deliveries", NOW + WEEK - 1)).toBe(0);
      expect(await sweep("deliveries", NOW + WEEK)).toBe(20);
      expect([await rows("deliveries"), await rows("delivery_events")]).toEqual([20, 20]);
      expect(await log.totals()).toMatchObject({ delivered: 0, queued: 20 });
      await settle(await take("hook-2"), { kind: "failed" });
      expect(await sweep("deliveries", NOW + WEEK)).toBe(1);
      expect([await list("hook-1"), await rows("delivery_events")]).toEqual([[], 19]);
      // Queued deliveries stay, however long the webhook is inactive.
      expect(await sweep("deliveries", NOW + 100 * WEEK)).toBe(0);
      expect(await rows("deliveries")).toBe(19);
      await sweepAll(NOW + WEEK + 2 * DAY);
      expect(await rows("delivery_attempts")).toBe(0);
    });

    test("deliveries of a deleted webhook are never claimed again, and are deleted with their rows", async () => {
      const {
        addWebhook,
        publish,
        event,
        take,
        claim,
        settle,
        webhooks,
        own,
        sweep,
        sweepAll,
        rows,
        log,
        queue,
      } = await start();
      const hooks = [await addWebhook(1), await addWebhook(2)];
      await publish(Array.from({ length: 20 }, (_, n) => event(n, ...hooks)));
      const underWay = await take("hook-1");
      await settle(await take("hook-1"), { kind: "delivered" });
      await webhooks.delete(own("hook-1"));
      expect(await claim("hook-1")).toBeUndefined();
      expect(await settle(underWay, { kind: "retry", dueAtMs: NOW_MS })).toBeUndefined();
      expect((await queue.dueWebhooks(0, 10)).webhooks.map(({ webhookId }) => webhookId)).toEqual(["hook-2"]);
      expect(await sweep("orphaned_deliveries", NOW)).toBe(20);
      expect([await rows("deliveries"), await rows("delivery_events"), await rows("webhook_health")]).toEqual(
        [20, 20, 1],
      );
      expect(await rows("delivery_rates")).toBe(0);
      expect(await log.totals()).toEqual({ queued: 20, delivered: 0, failed: 0, dropped: 0 });
      expect(await sweep("orphaned_deliveries", NOW)).toBe(0);
      expect(await sweep("webhook_changes", NOW + DAY - 1)).toBe(0);
      expect(await sweep("webhook_changes", NOW + DAY)).toBe(1);
      await sweepAll(NOW + WEEK + 2 * DAY);
      expect(await rows("delivery_attempts")).toBe(0);
    });

    test("counts equal the rows after any operations in any order", async () => {
      const { addWebhook, publish, event, claim, settle, log, own, list, health, queue, restart, sweep } =
        await start();
      const hooks = [await addWebhook(1), await addWebhook(2)];
      let nowMs = NOW_MS;
      let nextEvent = 0;
      const limit: CallLimit = { calls: 3, windowMs: 10_000, maxWaitMs: 20_000 };
      const step = fc.record({
        act: fc.constantFrom("publish", "call", "leave", "replay", "restart", "sweep", "wait"),
        hook: fc.constantFrom(...hooks),
        end: fc.constantFrom("delivered", "failed", "retry", "gone"),
      });
      const samples = fc.sample(step, { numRuns: 150, seed: 7 });
      for (const { act, hook, end } of samples) {
        nowMs += 700;
        if (act === "publish") await publish([event(nextEvent++, ...hooks)], Math.floor(nowMs / 1000));
        if (act === "call" || act === "leave") {
          const delivery = (await claim(hook, nowMs, limit))?.delivery;
          const kind = end === "gone" ? "failed" : end;
          const outcome: Verdict = kind === "retry" ? { kind, dueAtMs: nowMs + 900 } : { kind };
          if (delivery && act === "call") await settle(delivery, outcome, { atMs: nowMs });
        }
        if (act === "replay") {
          const range = { fromSecs: 0, toSecs: Math.floor(nowMs / 1000) };
          await log.replayRange(own(hook), range, { after: undefined, max: 2, nowMs });
        }
        if (act === "restart") {
          await restart();
          await queue.endLeasesOfTheDead(nowMs, 100);
        }
        if (act === "sweep") await sweep("deliveries", Math.floor(nowMs / 1000) + WEEK - 30);
        if (act === "wait") nowMs += 8_000;
        const rows = (await Promise.all(hooks.map((one) => list(one)))).flat();
        const totals = await log.totals();
        for (const [state, total] of Object.entries(totals)) {
          expect([state, total]).toEqual([state, rows.filter((row) => row.state === state).length]);
        }
        for (const one of hooks) {
          const queued = (await list(one, "queued")).length;
          expect((await health(one))?.queued).toBe(queued);
        }
      }
      expect(nextEvent).toBeGreaterThan(5);
    });
  });
}
