import { expect, test } from "bun:test";
import { messageIdOf } from "../../../src/webhooks/store/queue-events.ts";
import { makeSecret } from "../../management/owned-store-contract.ts";
import {
  describeDeliveries,
  LEASE_MS,
  NOW,
  NOW_MS,
  type OpenDeliveries,
  plenty,
} from "./delivery-fixture.ts";

export function claimsContract(name: string, open: OpenDeliveries): void {
  describeDeliveries(`${name}: claims of deliveries`, open, (start) => {
    test("a claim returns the body, the webhook and its current secrets", async () => {
      const { addWebhook, publish, event, take, settle, webhooks, own } = await start();
      const hook = await addWebhook(1);
      await publish([event(1, hook)]);
      const first = await take(hook);
      expect(first).toMatchObject({
        body: '{"n":1}',
        attempts: 0,
        messageId: messageIdOf("event-1", hook),
        targetUrl: "https://hook-1.example",
        secrets: [makeSecret(1)],
      });
      await settle(first, { kind: "retry", dueAtMs: NOW_MS + 10 });
      await webhooks.rotateSecret(own(hook), {
        secret: makeSecret(9, NOW),
        graceEndsAt: NOW + 60,
        maxSecrets: 9,
      });
      await webhooks.update(own(hook), { targetUrl: "https://moved.example" });
      const second = await take(hook, NOW_MS + 10);
      expect(second).toMatchObject({
        messageId: first.messageId,
        attempts: 1,
        targetUrl: "https://moved.example",
      });
      expect(second.secrets.map(({ uid }) => uid)).toEqual(["uid-1", "uid-9"]);
      await settle(second, { kind: "retry", dueAtMs: NOW_MS + 60_000 });
      expect((await take(hook, NOW_MS + 60_000)).secrets.map(({ uid }) => uid)).toEqual(["uid-9"]);
    });

    test("concurrent claims get different deliveries, the longest due first", async () => {
      const { addWebhook, publish, event, claim } = await start();
      const hook = await addWebhook(1);
      await publish([event(1, hook), event(2, hook)], NOW - 5);
      await publish([event(3, hook)], NOW - 9);
      const claims = await Promise.all([1, 2, 3, 4].map(() => claim(hook)));
      expect(claims.map((one) => one?.delivery?.body)).toEqual(['{"n":3}', '{"n":1}', '{"n":2}', undefined]);
      expect(claims.map((one) => one?.nextAtMs)).toEqual(
        [(NOW - 5) * 1000, (NOW - 5) * 1000, NOW_MS + LEASE_MS, NOW_MS + LEASE_MS].map((dueAtMs, at) =>
          at < 2 ? NOW_MS : dueAtMs,
        ),
      );
    });

    test("a leased delivery cannot be claimed until the lease expires; then a settlement under it changes nothing", async () => {
      const { addWebhook, publish, event, claim, take, settle, list, health } = await start();
      const hook = await addWebhook(1);
      await publish([event(1, hook)]);
      const late = await take(hook);
      expect((await claim(hook, NOW_MS + LEASE_MS - 1))?.delivery).toBeUndefined();
      const taken = await take(hook, NOW_MS + LEASE_MS);
      expect(taken.seq).toBe(late.seq);
      await settle(late, { kind: "delivered" });
      expect(await list(hook, "delivered")).toEqual([]);
      expect(await health(hook)).toMatchObject({ lastSuccessAt: null, queued: 1 });
      await settle(taken, { kind: "delivered" }, { atMs: NOW_MS + LEASE_MS });
      expect(await list(hook, "delivered")).toHaveLength(1);
    });

    test("deliveries that a killed process had claimed are due at once, and no attempt is counted", async () => {
      const { addWebhook, publish, event, take, queue, restart } = await start();
      const hook = await addWebhook(1);
      await publish([1, 2, 3].map((n) => event(n, hook)));
      for (let n = 0; n < 3; n += 1) await take(hook);
      expect(await queue.endLeasesOfTheDead(NOW_MS + 1, 9)).toBe(0);
      await restart();
      expect(await queue.endLeasesOfTheDead(NOW_MS + 1, 2)).toBe(2);
      expect(await queue.endLeasesOfTheDead(NOW_MS + 1, 2)).toBe(1);
      expect(await queue.endLeasesOfTheDead(NOW_MS + 1, 2)).toBe(0);
      expect((await take(hook, NOW_MS + 1)).attempts).toBe(0);
    });

    test("a process that was taken for dead settles nothing, although another lease ends at the same time", async () => {
      const { addWebhook, publish, event, take, settle, queue, restart, list } = await start();
      const hook = await addWebhook(1);
      await publish([event(1, hook), event(2, hook)]);
      const [stale, other] = [await take(hook), await take(hook)];
      const paused = await restart();
      expect(await queue.endLeasesOfTheDead(NOW_MS, 9)).toBe(2);
      await settle(other, { kind: "delivered" }, { by: paused });
      const taken = await take(hook);
      expect(taken).toMatchObject({ seq: stale.seq, leaseEndsAtMs: stale.leaseEndsAtMs });
      await settle(stale, { kind: "delivered" }, { by: paused });
      await paused.release(stale, NOW_MS);
      await paused.unclaim([stale]);
      expect(await list(hook, "delivered")).toEqual([]);
      await settle(taken, { kind: "delivered" });
      expect((await list(hook, "delivered")).map(({ seq }) => seq)).toEqual([taken.seq]);
    });

    test("a claim of several returns the longest due first, as many as there are and as the limit allows", async () => {
      const { addWebhook, publish, event, claimMany } = await start();
      const hook = await addWebhook(1);
      await publish([1, 2, 3].map((n) => event(n, hook)));
      await publish([event(4, hook)], NOW - 9);
      const first = await claimMany(hook, 2);
      expect(first?.deliveries.map(({ body }) => body)).toEqual(['{"n":4}', '{"n":1}']);
      expect(first?.nextAtMs).toBe(NOW_MS);
      const rest = await claimMany(hook, 9, { limit: { ...plenty, calls: 3 } });
      expect(rest?.deliveries.map(({ body }) => body)).toEqual(['{"n":2}']);
      expect((await claimMany(hook, 9))?.deliveries.map(({ body }) => body)).toEqual(['{"n":3}']);
    });

    test("claims that are undone leave order, attempts and the rate limit as they were", async () => {
      const { addWebhook, publish, event, claimMany, queue, list } = await start();
      const hook = await addWebhook(1);
      await publish(
        [1, 2, 3, 4].map((n) => event(n, hook)),
        NOW - 5,
      );
      const before = await list(hook);
      const limit = { ...plenty, calls: 4 };
      const [called, ...waiting] = (await claimMany(hook, 4, { limit }))?.deliveries ?? [];
      await queue.unclaim(waiting);
      // Without the leases it changes nothing.
      await queue.unclaim(waiting);
      const again = (await claimMany(hook, 4, { nowMs: NOW_MS + 50, limit }))?.deliveries ?? [];
      expect(again.map(({ body, attempts }) => [body, attempts])).toEqual([
        ['{"n":2}', 0],
        ['{"n":3}', 0],
        ['{"n":4}', 0],
      ]);
      await queue.unclaim(called ? [called, ...again] : []);
      expect(await list(hook)).toEqual(before);
    });

    test("a released delivery is unchanged", async () => {
      const { addWebhook, publish, event, take, queue, list } = await start();
      const hook = await addWebhook(1);
      await publish([event(1, hook)]);
      const before = await list(hook);
      await queue.release(await take(hook), NOW_MS);
      expect(await list(hook)).toEqual(before);
      expect((await take(hook)).attempts).toBe(0);
    });

    test("pages of webhooks with queued deliveries omit inactive webhooks and those with none due", async () => {
      const { addWebhook, publish, event, queue, webhooks, own, take, settle } = await start();
      const hooks: string[] = [];
      for (const n of [1, 2, 3, 4, 5]) hooks.push(await addWebhook(n));
      await publish([event(1, ...hooks.filter((hook) => hook !== "hook-3"))]);
      await webhooks.update(own("hook-4"), { active: false });
      // The last attempt of one of them failed.
      await settle(await take("hook-5"), { kind: "retry", dueAtMs: NOW_MS });
      const found: [string, boolean][] = [];
      let after: number | undefined = 0;
      while (after !== undefined) {
        const page = await queue.dueWebhooks(after, 2);
        for (const { webhookId, isFailing } of page.webhooks) found.push([webhookId, isFailing]);
        for (const { dueAtMs } of page.webhooks) expect(dueAtMs).toBe(NOW_MS);
        after = page.last;
      }
      expect(found).toEqual([
        ["hook-1", false],
        ["hook-2", false],
        ["hook-5", true],
      ]);
    });

    test("deliveries of an inactive webhook wait, and continue when it is active again", async () => {
      const { addWebhook, publish, event, claim, take, webhooks, own, list } = await start();
      const hook = await addWebhook(1);
      await publish([event(1, hook)]);
      await webhooks.update(own(hook), { active: false });
      expect(await claim(hook)).toBeUndefined();
      expect(await publish([event(2, hook)])).toMatchObject({ queued: 0 });
      expect(await list(hook, "queued")).toHaveLength(1);
      await webhooks.update(own(hook), { active: true });
      // Longer than the longest wait, after which a delivery is dropped.
      expect((await take(hook, NOW_MS + 10 * plenty.maxWaitMs)).body).toBe('{"n":1}');
    });
  });
}
