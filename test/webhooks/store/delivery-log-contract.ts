import { expect, test } from "bun:test";
import { durationClassOf, STATS_STEP_SECS, statsStepOf } from "../../../src/webhooks/store/attempt-stats.ts";
import type {
  DeliveryFilter,
  DeliveryPosition,
  LoggedDelivery,
} from "../../../src/webhooks/store/delivery-log.ts";
import {
  describeDeliveries,
  MAX_QUEUED,
  NOW,
  NOW_MS,
  type OpenDeliveries,
  WEEK,
} from "./delivery-fixture.ts";

export function deliveryLogContract(name: string, open: OpenDeliveries): void {
  describeDeliveries(`${name}: log and replays`, open, (start) => {
    test("lists have the deliveries of one webhook, newest first, and pages neither repeat nor skip", async () => {
      const { addWebhook, publish, event, log, take, settle } = await start();
      const hooks = [await addWebhook(1), await addWebhook(2)];
      for (let n = 0; n < 12; n += 1) await publish([event(n, ...hooks)], NOW + Math.floor(n / 3));
      for (let n = 0; n < 4; n += 1) {
        const outcome = n % 2 === 0 ? ({ kind: "delivered" } as const) : ({ kind: "failed" } as const);
        await settle(await take("hook-1", NOW_MS + 60_000), outcome);
      }
      const walk = async (state: LoggedDelivery["state"] | undefined) => {
        const found: LoggedDelivery[] = [];
        let after: DeliveryPosition | undefined;
        do {
          const page = await log.list({ webhookId: "hook-1", state, after, max: 5 });
          found.push(...page.deliveries);
          after = page.next;
        } while (after);
        return found;
      };
      const all = await walk(undefined);
      expect(all.map(({ eventId }) => eventId)).toEqual(
        Array.from({ length: 12 }, (_, n) => `event-${11 - n}`),
      );
      expect(await walk("queued")).toHaveLength(8);
      expect((await walk("failed")).map(({ eventId }) => eventId)).toEqual(["event-3", "event-1"]);
      expect(await log.list({ webhookId: "never", after: undefined, max: 5 })).toEqual({
        deliveries: [],
        next: undefined,
      });
    });

    test("lists select by kind, time, test and state, and a page that looked at many rows says where the next one starts", async () => {
      const { addWebhook, publish, event, log, own } = await start();
      const hook = await addWebhook(1);
      for (let n = 0; n < 30; n += 1) {
        const kind = n % 10 === 0 ? "follow.created" : "cast.created";
        await publish([{ ...event(n, hook), kind }], NOW + n);
      }
      const { webhookIds: _none, ...made } = event(100);
      await log.queueTests(own(hook), [made], NOW_MS + 99_000);
      const idsOf = async (filter: DeliveryFilter) => {
        const found: string[] = [];
        let after: DeliveryPosition | undefined;
        do {
          const page = await log.list({ webhookId: hook, ...filter, after, max: 2 });
          found.push(...page.deliveries.map(({ eventId }) => eventId));
          after = page.next;
        } while (after);
        return found;
      };
      expect(await idsOf({ kind: "follow.created" })).toEqual(["event-20", "event-10", "event-0"]);
      expect(await idsOf({ isTest: true })).toEqual(["event-100"]);
      expect(await idsOf({ isTest: false, kind: "follow.created", state: "queued" })).toHaveLength(3);
      expect(await idsOf({ state: "failed", kind: "follow.created" })).toEqual([]);
      expect(await idsOf({ fromSecs: NOW + 3, toSecs: NOW + 5 })).toEqual(["event-5", "event-4", "event-3"]);
      expect(await idsOf({ kind: "follow.created", fromSecs: NOW + 1 })).toEqual(["event-20", "event-10"]);
      // A cursor of another range does not lead out of this one.
      const after = { createdAt: NOW + 29, seq: 1_000_000 };
      const page = await log.list({ webhookId: hook, toSecs: NOW + 1, after, max: 9 });
      expect(page.deliveries.map(({ eventId }) => eventId)).toEqual(["event-1", "event-0"]);
    });

    test("a delivery is found by its message id with its body, in its own webhook only", async () => {
      const { addWebhook, publish, event, take, settle, log } = await start();
      const hook = await addWebhook(1);
      const other = await addWebhook(2);
      await publish([event(1, hook, other)]);
      const { messageId } = await take(hook);
      expect(await log.find(hook, messageId)).toMatchObject({
        delivery: { messageId, eventId: "event-1", attempts: [] },
        body: '{"n":1}',
      });
      await settle(await take(other), { kind: "failed" });
      const [theirs] = (await log.list({ webhookId: other, after: undefined, max: 1 })).deliveries;
      expect((await log.find(other, theirs?.messageId ?? ""))?.delivery.attempts).toHaveLength(1);
      expect(await log.find(hook, theirs?.messageId ?? "")).toBeUndefined();
      expect(await log.find("never", messageId)).toBeUndefined();
    });

    test("attempts are counted by time and duration, once each, and for a week", async () => {
      const { addWebhook, publish, event, take, settle, log, sweep, rows } = await start();
      const hook = await addWebhook(1);
      const other = await addWebhook(2);
      await publish([event(1, hook, other), event(2, hook), event(3, hook)]);
      const step = statsStepOf(NOW);
      const first = await take(hook);
      await settle(first, { kind: "retry", dueAtMs: NOW_MS + 1_000 });
      // Its lease is over, so this changes nothing.
      await settle(first, { kind: "delivered" });
      await settle(await take(hook, NOW_MS + 1_000), { kind: "delivered" });
      await settle(await take(hook, NOW_MS + 1_000), { kind: "gone" });
      await settle(await take(other), { kind: "delivered" });
      const atMs = NOW_MS + 2 * STATS_STEP_SECS * 1000;
      const counted = (webhookId: string, fromSecs = step, stepSecs = STATS_STEP_SECS) =>
        log.stats({ webhookId, fromSecs, stepSecs });
      const five = { duration_class: durationClassOf(5) };
      expect(await counted(hook)).toEqual([{ at: step, ...five, attempts: 3, delivered: 1, failed: 1 }]);
      expect(await counted(other)).toEqual([{ at: step, ...five, attempts: 1, delivered: 1, failed: 0 }]);
      await publish([event(4, other)]);
      await settle(await take(other, atMs), { kind: "failed" }, { atMs });
      const steps = (await counted(other)).map(({ at }) => at);
      expect(new Set(steps)).toEqual(new Set([step, statsStepOf(atMs / 1000)]));
      const hour = await counted(other, statsStepOf(NOW, 3600), 3600);
      expect(hour).toEqual([{ at: statsStepOf(NOW, 3600), ...five, attempts: 2, delivered: 1, failed: 1 }]);
      expect(await counted(other, step + STATS_STEP_SECS)).toHaveLength(1);
      expect(await counted("never")).toEqual([]);
      expect(await sweep("attempt_stats", step + WEEK)).toBe(0);
      expect(await sweep("attempt_stats", step + WEEK + STATS_STEP_SECS)).toBe(2);
      expect(await rows("attempt_stats")).toBe(1);
    });

    test("a finished delivery is sent again under its id, and its earlier attempts stay", async () => {
      const { addWebhook, publish, event, take, settle, log, own, list, health } = await start();
      const hook = await addWebhook(1);
      await publish([event(1, hook), event(2, hook)]);
      const first = await take(hook);
      const { messageId } = first;
      expect(await log.replay(own(hook), messageId, NOW_MS)).toBe("still-queued");
      await settle(first, { kind: "failed" });
      expect(await log.replay(own(hook), messageId, NOW_MS)).toBe("queued");
      expect(await health(hook)).toMatchObject({ queued: 2 });
      const again = await take(hook);
      expect([again.messageId, again.attempts]).toEqual([messageId, 0]);
      await settle(again, { kind: "delivered" });
      expect(await log.replay(own(hook), messageId, NOW_MS)).toBe("queued");
      expect((await list(hook, "queued")).find((one) => one.messageId === messageId)?.attempts).toHaveLength(
        2,
      );
      expect(await log.totals()).toEqual({ queued: 2, delivered: 0, failed: 0, dropped: 0 });
    });

    test("failed and dropped deliveries of a time range are sent again, oldest first, and no others", async () => {
      const { addWebhook, publish, event, take, settle, log, own, list } = await start();
      const hook = await addWebhook(1);
      for (let n = 0; n < 10; n += 1) await publish([event(n, hook)], NOW + n);
      for (let n = 0; n < 9; n += 1) {
        const delivery = await take(hook, NOW_MS + 60_000);
        await settle(delivery, { kind: n === 5 ? "delivered" : "failed" });
      }
      const range = { fromSecs: NOW + 2, toSecs: NOW + 8 };
      const first = await log.replayRange(own(hook), range, { after: undefined, max: 4, nowMs: NOW_MS });
      expect(first).toMatchObject({ queued: 4 });
      if (typeof first === "string") throw new Error(first);
      expect(first.last?.createdAt).toBe(NOW + 6);
      const rest = await log.replayRange(own(hook), range, { after: first.last, max: 4, nowMs: NOW_MS });
      expect(rest).toEqual({ queued: 2, last: undefined });
      expect((await list(hook, "queued")).map(({ eventId }) => eventId)).toEqual(
        [9, 8, 7, 6, 4, 3, 2].map((n) => `event-${n}`),
      );
    });

    test("nothing is sent again for another owner, an inactive webhook or an unknown one", async () => {
      const { addWebhook, publish, event, take, settle, log, webhooks, own } = await start();
      const hook = await addWebhook(1);
      const other = await addWebhook(2);
      await publish([event(1, hook, other)]);
      const delivery = await take(hook);
      await settle(delivery, { kind: "failed" });
      const { messageId } = delivery;
      const page = { after: undefined, max: 9, nowMs: NOW_MS };
      const range = { fromSecs: 0, toSecs: NOW };
      const test = { ...event(5), webhookIds: undefined };
      expect(await log.replay(own(other), messageId, NOW_MS)).toBe("unknown");
      for (const [claim, refusal] of [
        [{ ...own(hook), ownerFid: 4 }, "not-owner"],
        [own("never"), "not-found"],
      ] as const) {
        expect(await log.replay(claim, messageId, NOW_MS)).toBe(refusal);
        expect(await log.replayRange(claim, range, page)).toBe(refusal);
        expect(await log.queueTests(claim, [test], NOW_MS)).toBe(refusal);
      }
      await webhooks.update(own(hook), { active: false });
      expect(await log.replay(own(hook), messageId, NOW_MS)).toBe("inactive");
      expect(await log.replayRange(own(hook), range, page)).toBe("inactive");
      expect(await log.queueTests(own(hook), [test], NOW_MS)).toBe("inactive");
    });

    test("test deliveries are queued as tests, and not when the queue is full", async () => {
      const { addWebhook, publish, event, log, own, list, take } = await start();
      const hook = await addWebhook(1);
      await publish(Array.from({ length: MAX_QUEUED - 2 }, (_, n) => event(n, hook)));
      const tests = [event(100), event(101)].map(({ webhookIds: _none, ...one }) => one);
      expect(await log.queueTests(own(hook), [...tests, ...tests], NOW_MS)).toBe("full");
      expect(await log.queueTests(own(hook), tests, NOW_MS)).toBe("queued");
      const queued = await list(hook, "queued");
      expect(queued.filter(({ isTest }) => isTest).map(({ eventId }) => eventId)).toEqual([
        "event-101",
        "event-100",
      ]);
      expect((await take(hook)).body).toBe('{"n":0}');
    });
  });
}
