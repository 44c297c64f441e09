import { expect, test } from "bun:test";
import { messageIdOf } from "../../../src/webhooks/store/queue-events.ts";
import { describeDeliveries, MAX_QUEUED, NOW, type OpenDeliveries } from "./delivery-fixture.ts";

export function publicationsContract(name: string, open: OpenDeliveries): void {
  describeDeliveries(`${name}: publications`, open, (start) => {
    test("a reader of the changes gets each change once, with the current state of each webhook", async () => {
      const { addWebhook, webhooks, publications, own } = await start();
      let version = 0;
      const look = async () => {
        const changes = await publications.changesSince(version);
        expect(changes.version).toBeGreaterThanOrEqual(version);
        version = changes.version;
        return [changes.changed.map(({ webhookId, active }) => [webhookId, active]), changes.deleted];
      };
      expect(await look()).toEqual([[], []]);
      await addWebhook(1);
      await addWebhook(2, { active: false });
      expect(await look()).toEqual([
        [
          ["hook-1", true],
          ["hook-2", false],
        ],
        [],
      ]);
      expect(await look()).toEqual([[], []]);
      await webhooks.update(own("hook-1"), { active: false });
      await webhooks.update(own("hook-2"), { active: true });
      await webhooks.update(own("hook-1"), { active: true, subscription: { "user.created": {} } });
      expect(await look()).toEqual([
        [
          ["hook-2", true],
          ["hook-1", true],
        ],
        [],
      ]);
      await webhooks.delete(own("hook-2"));
      expect(await look()).toEqual([[], ["hook-2"]]);
      version = 0;
      expect(await look()).toEqual([[["hook-1", true]], ["hook-2"]]);
    });

    test("changes include subscriptions and creation times", async () => {
      const { addWebhook, publications } = await start();
      await addWebhook(1, { createdAt: 77 });
      expect((await publications.changesSince(0)).changed).toEqual([
        {
          webhookId: "hook-1",
          ownerFid: 3,
          active: true,
          subscription: { "cast.created": { author_fids: [1] } },
          createdAt: 77,
        },
      ]);
    });

    test("the node deactivates an unchanged webhook with a reason, and readers get the change", async () => {
      const { addWebhook, publications, webhooks, own } = await start();
      await addWebhook(1);
      const { version } = await publications.changesSince(0);
      const input = { webhookId: "hook-1", reason: "too dear", version, nowSecs: 500 };
      expect(await publications.deactivate(input)).toBe(true);
      expect(await webhooks.find("hook-1", 500)).toMatchObject({
        active: false,
        updatedAt: 500,
        health: { deactivatedAt: 500, deactivationReason: "too dear" },
      });
      const seen = await publications.changesSince(version);
      expect(seen.changed).toMatchObject([{ webhookId: "hook-1", active: false }]);
      // It is inactive, then active but changed, then deleted.
      expect(await publications.deactivate({ ...input, version: seen.version })).toBe(false);
      await webhooks.update(own("hook-1"), { active: true });
      expect(await publications.deactivate({ ...input, version: seen.version })).toBe(false);
      expect(await webhooks.find("hook-1", 500)).toMatchObject({
        active: true,
        health: { deactivatedAt: null, deactivationReason: null },
      });
      await webhooks.delete(own("hook-1"));
      expect(await publications.deactivate({ ...input, version: seen.version + 10 })).toBe(false);
    });

    test("an event is queued once for each webhook, however often it is published", async () => {
      const { addWebhook, publish, event, list, rows } = await start();
      const hooks = [await addWebhook(1), await addWebhook(2)];
      expect(await publish([event(1, ...hooks), event(2, "hook-1")])).toMatchObject({
        queued: 3,
        webhookIds: ["hook-1", "hook-2"],
        dropped: 0,
      });
      expect(await publish([event(1, ...hooks), event(2, ...hooks)])).toMatchObject({
        queued: 1,
        webhookIds: ["hook-2"],
      });
      expect(await rows("delivery_events")).toBe(2);
      expect((await list("hook-2")).map(({ messageId }) => messageId)).toEqual([
        messageIdOf("event-2", "hook-2"),
        messageIdOf("event-1", "hook-2"),
      ]);
      const ids = [...(await list("hook-1")), ...(await list("hook-2"))].map(({ messageId }) => messageId);
      expect(new Set(ids).size).toBe(4);
    });

    test("nothing is queued for an inactive or deleted webhook, and an event without a webhook is not stored", async () => {
      const { addWebhook, publish, event, rows, webhooks, own } = await start();
      const hook = await addWebhook(1);
      const inactive = await addWebhook(2, { active: false });
      await webhooks.delete(own(hook));
      expect(await publish([event(1, hook, inactive, "never")])).toMatchObject({ queued: 0, dropped: 0 });
      expect([await rows("delivery_events"), await rows("deliveries")]).toEqual([0, 0]);
    });

    test("events that were matched before a webhook changed are not queued until they are matched again", async () => {
      const { addWebhook, publications, event, rows, webhooks, own } = await start();
      const hook = await addWebhook(1);
      const changes = [
        () => addWebhook(2),
        () => webhooks.update(own(hook), { active: false }),
        () => webhooks.delete(own(hook)),
      ];
      for (const change of changes) {
        const { version } = await publications.changesSince(0);
        await change();
        const matched = { version, nowSecs: NOW, events: [event(1, hook)] };
        expect(await publications.publish(matched)).toBe("changed");
        expect([await rows("delivery_events"), await rows("deliveries")]).toEqual([0, 0]);
      }
      const { version } = await publications.changesSince(0);
      const matched = { version, nowSecs: NOW, events: [event(1, "hook-2")] };
      expect(await publications.publish(matched)).toMatchObject({ queued: 1 });
    });

    test("events for a full queue are dropped at once, only for that webhook", async () => {
      const { addWebhook, publish, event, health, rows, take, settle } = await start();
      const hooks = [await addWebhook(1), await addWebhook(2)];
      await publish(Array.from({ length: MAX_QUEUED }, (_, n) => event(n, "hook-1")));
      expect(await publish([event(900, ...hooks)])).toMatchObject({
        queued: 1,
        dropped: 1,
        webhookIds: ["hook-2"],
      });
      expect(await health("hook-1")).toMatchObject({ queued: MAX_QUEUED, dropped: 1 });
      expect(await health("hook-2")).toMatchObject({ queued: 1, dropped: 0 });
      expect(await rows("deliveries")).toBe(MAX_QUEUED + 1);
      // An event that is already queued and published again after a crash does not count as dropped.
      expect(await publish([event(1, "hook-1")])).toMatchObject({ queued: 0, dropped: 0 });
      await settle(await take("hook-1"), { kind: "delivered" });
      expect(await publish([event(901, "hook-1")])).toMatchObject({ queued: 1, dropped: 0 });
    });
  });
}
