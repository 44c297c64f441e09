import { expect, test } from "bun:test";
import { messageIdOf } from "../../../src/webhooks/store/queue-events.ts";
import { DAY, describeDeliveries, NOW, NOW_MS, type OpenDeliveries, WEEK } from "./delivery-fixture.ts";

const replayOf = (webhookId: string, over = {}) => ({
  replayId: "replay-1",
  webhookId,
  ownerFid: 3,
  scope: "missing" as const,
  fromAt: NOW,
  toAt: NOW + 100,
  perSecond: 4,
  maxSent: 1000,
  ...over,
});

export function replaysContract(name: string, open: OpenDeliveries): void {
  describeDeliveries(`${name}: replays in the background`, open, (start) => {
    test("a webhook has one replay at a time, which only its owner starts and ends", async () => {
      const { addWebhook, here } = await start();
      const hook = await addWebhook(1);
      const replays = here();
      expect(await replays.start(replayOf(hook, { ownerFid: 4 }), NOW)).toBe("not-owner");
      expect(await replays.start(replayOf("never"), NOW)).toBe("not-found");
      expect(await replays.start(replayOf(hook), NOW)).toBe("started");
      expect(await replays.start(replayOf(hook, { replayId: "replay-2" }), NOW)).toBe("running");
      expect(await replays.cancel("replay-1", 4, NOW)).toBe(false);
      expect(await replays.cancel("replay-1", 3, NOW + 1)).toBe(true);
      expect(await replays.find("replay-1")).toMatchObject({ state: "cancelled", endedAt: NOW + 1 });
      expect(await replays.start(replayOf(hook, { replayId: "replay-2" }), NOW)).toBe("started");
      expect(await replays.find("replay-9")).toBeUndefined();
    });

    test("queues the failed ones of its time in their order, as many as it may a second, and waits behind a long queue", async () => {
      const { addWebhook, publish, event, take, settle, list, here } = await start();
      const hook = await addWebhook(1);
      for (let n = 0; n < 14; n++) {
        await publish([event(n, hook)], NOW + n);
        await settle(await take(hook, NOW_MS + 50_000), { kind: n === 3 ? "delivered" : "failed" });
      }
      const replays = here();
      await replays.start(replayOf(hook, { scope: "failed", fromAt: NOW + 1, toAt: NOW + 12 }), NOW + 60);
      const [claimed] = await replays.claim(NOW + 60);
      expect(claimed).toMatchObject({ replayId: "replay-1", lastCreatedAt: NOW + 1 });
      expect(await replays.requeueNext("replay-1", NOW_MS + 60_000)).toEqual({ queued: 4, more: true });
      expect((await list(hook, "queued")).map(({ eventId }) => eventId)).toEqual(
        [5, 4, 2, 1].map((n) => `event-${n}`),
      );
      expect(await replays.requeueNext("replay-1", NOW_MS + 61_000)).toEqual({ queued: 4, more: true });
      // Eight are queued, which is two seconds of it.
      expect(await replays.requeueNext("replay-1", NOW_MS + 62_000)).toBe("waits");
      const first = await take(hook, NOW_MS + 63_000);
      expect(first).toMatchObject({ messageId: messageIdOf("event-1", hook), replayId: "replay-1" });
      await settle(first, { kind: "failed" }, { atMs: NOW_MS + 63_000 });
      expect(await replays.requeueNext("replay-1", NOW_MS + 64_000)).toEqual({ queued: 3, more: false });
      // What it sent has failed again, and is not sent twice.
      expect(await list(hook, "failed")).toHaveLength(3);
      await replays.end("replay-1", null, NOW + 65);
      expect(await replays.requeueNext("replay-1", NOW_MS + 66_000)).toBe("ended");
      expect(await replays.find("replay-1")).toMatchObject({ state: "done", sent: 11, reason: null });
      expect(await list(hook, "queued")).toHaveLength(10);
    });

    test("makes a delivery of each event that the webhook never had, once, under the id that it would have had", async () => {
      const { addWebhook, publish, event, list, here } = await start();
      const hook = await addWebhook(1);
      await publish([event(1, hook)], NOW);
      const replays = here();
      await replays.start(replayOf(hook), NOW);
      await replays.claim(NOW);
      const events = [1, 2, 3].map((n) => event(n));
      expect(await replays.stored(events.map(({ eventId }) => messageIdOf(eventId, hook)))).toEqual(
        new Set([messageIdOf("event-1", hook)]),
      );
      expect(await replays.queueMissing("replay-1", events, NOW_MS)).toEqual({ queued: 2, more: false });
      expect(await replays.queueMissing("replay-1", events, NOW_MS)).toEqual({ queued: 0, more: false });
      const deliveries = await list(hook);
      expect(deliveries.map(({ messageId, replayId }) => [messageId, replayId])).toEqual([
        [messageIdOf("event-3", hook), "replay-1"],
        [messageIdOf("event-2", hook), "replay-1"],
        [messageIdOf("event-1", hook), null],
      ]);
      // The publisher finds them there.
      expect(await publish(events.map((one) => ({ ...one, webhookIds: [hook] })))).toMatchObject({
        queued: 0,
      });
    });

    test("continues in another process once the first was killed, and never in two", async () => {
      const { addWebhook, publish, event, take, settle, here, restart } = await start();
      const hook = await addWebhook(1);
      for (let n = 0; n < 6; n++) {
        await publish([event(n, hook)], NOW + n);
        await settle(await take(hook, NOW_MS + 50_000), { kind: "failed" });
      }
      const first = here();
      await first.start(replayOf(hook, { scope: "failed", perSecond: 3 }), NOW);
      await first.claim(NOW);
      expect(await first.requeueNext("replay-1", NOW_MS)).toEqual({ queued: 3, more: true });
      await restart();
      expect(await here().claim(NOW + 30)).toEqual([]);
      expect(await here().requeueNext("replay-1", NOW_MS + 30_000)).toBe("ended");
      const [claimed] = await here().claim(NOW + 120);
      expect(claimed).toMatchObject({ sent: 3 });
      expect(await first.requeueNext("replay-1", NOW_MS + 120_000)).toBe("ended");
      expect(await here().requeueNext("replay-1", NOW_MS + 120_000)).toEqual({ queued: 3, more: true });
      expect(await here().find("replay-1")).toMatchObject({ sent: 6, state: "running" });
    });

    test("stops when its webhook is disabled or deleted, and at its bound", async () => {
      const { addWebhook, publish, event, webhooks, own, here } = await start();
      const hooks = [await addWebhook(1), await addWebhook(2), await addWebhook(3)];
      await publish([event(1, ...hooks)]);
      for (const [at, hook] of hooks.entries())
        await here().start(replayOf(hook, { replayId: `replay-${at}`, maxSent: at === 2 ? 1 : 9 }), NOW);
      await here().claim(NOW);
      await webhooks.update(own(hooks[0] ?? ""), { active: false });
      await webhooks.delete(own(hooks[1] ?? ""));
      expect(await here().queueMissing("replay-0", [event(2)], NOW_MS)).toBe("ended");
      expect(await here().queueMissing("replay-1", [event(2)], NOW_MS)).toBe("ended");
      expect(await here().queueMissing("replay-2", [event(2), event(3)], NOW_MS)).toEqual({
        queued: 1,
        more: true,
      });
      expect(await here().queueMissing("replay-2", [event(3)], NOW_MS)).toBe("ended");
      const reasons = await Promise.all(["replay-0", "replay-1", "replay-2"].map((id) => here().find(id)));
      expect(reasons.map((replay) => [replay?.state, replay?.reason])).toEqual([
        ["stopped", "the webhook is disabled"],
        ["stopped", "the webhook is deleted"],
        ["stopped", "it has sent 1 deliveries"],
      ]);
    });

    test("counts deliveries of a time by state, and is swept a week after its end", async () => {
      const { addWebhook, publish, event, take, settle, own, here, sweep } = await start();
      const hook = await addWebhook(1);
      for (let n = 0; n < 5; n++) await publish([event(n, hook)], NOW + n);
      await settle(await take(hook, NOW_MS + 50_000), { kind: "failed" });
      await settle(await take(hook, NOW_MS + 50_000), { kind: "delivered" });
      expect(await here().count(own(hook), { fromSecs: NOW, toSecs: NOW + 3 }, 100)).toMatchObject({
        failed: 1,
        delivered: 1,
        queued: 2,
      });
      expect(await here().count(own(hook), { fromSecs: NOW, toSecs: NOW + 9 }, 2)).toMatchObject({
        queued: 2,
      });
      await here().start(replayOf(hook), NOW);
      expect(await sweep("webhook_replays", NOW + 2 * WEEK)).toBe(0);
      await here().cancel("replay-1", 3, NOW + 2 * WEEK);
      expect(await sweep("webhook_replays", NOW + 3 * WEEK - DAY)).toBe(0);
      expect(await sweep("webhook_replays", NOW + 3 * WEEK)).toBe(1);
    });

    test("a list has the deliveries of a replay, of a text and of a status", async () => {
      const { addWebhook, publish, event, take, settle, log, here } = await start();
      const hook = await addWebhook(1);
      const body = (data: object) => JSON.stringify({ created_at: NOW, type: "cast.created", data });
      const bodies = [
        { hash: "0xabcdef01", author: { fid: 12 }, embeds: [{ url: "https://News.Example/a" }] },
        { hash: "0x99", author: { fid: 123 }, embeds: [{ url: "https://news.example" }] },
        { hash: "0x98", author: { fid: 7 }, text: "100% _ \\ news.example" },
      ];
      for (const [n, data] of bodies.entries())
        await publish([{ ...event(n, hook), body: body(data) }], NOW + n);
      await settle(await take(hook, NOW_MS + 50_000), { kind: "failed" });
      await here().start(replayOf(hook, { scope: "failed" }), NOW);
      await here().claim(NOW);
      await here().requeueNext("replay-1", NOW_MS);
      const found = async (filter: object) => {
        const page = await log.list({ webhookId: hook, after: undefined, max: 10, ...filter });
        return page.deliveries.map(({ eventId }) => Number(eventId.slice(-1)));
      };
      expect(await found({ replayId: "replay-1" })).toEqual([0]);
      expect(await found({ replayId: "replay-2" })).toEqual([]);
      expect(await found({ status: 200 })).toEqual([0]);
      expect(await found({ status: 500 })).toEqual([]);
      expect(await found({ text: "12" })).toEqual([0]);
      expect(await found({ text: "123" })).toEqual([1]);
      expect(await found({ text: "0xABCDEF01" })).toEqual([0]);
      expect(await found({ text: "news.example" })).toEqual([1, 0]);
      expect(await found({ text: "event-2" })).toEqual([2]);
      expect(await found({ text: messageIdOf("event-1", hook) })).toEqual([1]);
      for (const text of ["%", "_", "\\", "100%", ""])
        expect([text, await found({ text })]).toEqual([text, []]);
      expect(await found({ text: "12", status: 200, replayId: "replay-1" })).toEqual([0]);
    });
  });
}
