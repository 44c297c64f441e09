import { afterEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Sweep } from "../../../src/db/state/sweep.ts";
import type { DeliveryLog, LoggedDelivery } from "../../../src/webhooks/store/delivery-log.ts";
import type { DeliveryPublications, QueuedEvent } from "../../../src/webhooks/store/delivery-publications.ts";
import type {
  CallLimit,
  ClaimedDelivery,
  DeliveryQueue,
  Verdict,
} from "../../../src/webhooks/store/delivery-queue.ts";
import { messageIdOf } from "../../../src/webhooks/store/message-id.ts";
import type { WebhookStore } from "../../../src/webhooks/store/webhook-store.ts";
import { UNTRIED, type Webhook } from "../../../src/webhooks/store/webhook-store.ts";
import { makeSecret } from "../../management/owned-store-contract.ts";
import { ManualClock } from "../../support/clock.ts";
import { SWEEP_MARGIN_SECS } from "../../support/state-stores.ts";

/** Stores over the same state. */
export interface DeliveryFixture extends Disposable {
  readonly webhooks: WebhookStore;
  readonly publications: DeliveryPublications;
  readonly queue: DeliveryQueue;
  readonly log: DeliveryLog;
  readonly sweeps: readonly Sweep[];
  /** Rows of a table. */
  rows(table: string): number;
}

/** Limit of queued deliveries of one webhook in a fixture. */
export const MAX_QUEUED = 40;

const NOW = 1_000_000;
const NOW_MS = NOW * 1000;
const DAY = 86_400;
const WEEK = 7 * DAY;
const LEASE_MS = 40_000;
const LONGEST_WAIT_MS = 400 * DAY * 1000;
const plenty: CallLimit = { calls: 1000, windowMs: 60_000, maxWaitMs: 900_000 };
const rule = { failures: 3, runSecs: DAY };

/** The guarantees of every implementation of the delivery stores. */
export function deliveryStoresContract(name: string, open: (clock: ManualClock) => DeliveryFixture): void {
  describe(`${name}: delivery stores`, () => {
    const opened: Disposable[] = [];
    afterEach(() => {
      for (const fixture of opened.splice(0)) fixture[Symbol.dispose]();
    });

    function start() {
      const clock = new ManualClock(NOW);
      const fixture = open(clock);
      opened.push(fixture);
      const { webhooks, publications, queue, log } = fixture;
      const addWebhook = async (n: number, input: Partial<Webhook> = {}) => {
        const webhook: Webhook = {
          webhookId: `hook-${n}`,
          ownerFid: 3,
          title: "T",
          targetUrl: `https://hook-${n}.example`,
          description: null,
          active: true,
          subscription: { "cast.created": { author_fids: [n] } },
          compatPrefix: null,
          health: UNTRIED,
          secrets: [makeSecret(n)],
          createdAt: NOW - 100,
          updatedAt: NOW - 100,
          ...input,
        };
        await webhooks.create(webhook, 1000);
        return webhook.webhookId;
      };
      const event = (n: number, ...webhookIds: string[]): QueuedEvent => ({
        eventId: `event-${n}`,
        kind: "cast.created",
        createdAt: NOW,
        body: `{"n":${n}}`,
        webhookIds,
      });
      const publish = async (events: readonly QueuedEvent[], nowSecs = NOW) => {
        const { version } = await publications.changesSince(0);
        return publications.publish({ version, nowSecs, events });
      };
      const claimMany = (
        webhookId: string,
        max: number,
        { nowMs = NOW_MS, limit = plenty, maxHoldMs = 0 } = {},
      ) => {
        clock.setMs(nowMs);
        return queue.claim({
          webhookId,
          nowMs,
          leaseEndsAtMs: nowMs + LEASE_MS,
          maxRetryDelayMs: LONGEST_WAIT_MS,
          limit,
          max,
          maxHoldMs,
        });
      };
      const claim = async (webhookId: string, nowMs = NOW_MS, limit = plenty) => {
        const claimed = await claimMany(webhookId, 1, { nowMs, limit });
        return claimed && { ...claimed, delivery: claimed.deliveries[0] };
      };
      const take = async (webhookId: string, nowMs = NOW_MS): Promise<ClaimedDelivery> => {
        const delivery = (await claim(webhookId, nowMs))?.delivery;
        if (!delivery) throw new Error("nothing to claim");
        return delivery;
      };
      const settle = async (
        delivery: ClaimedDelivery,
        outcome: Verdict,
        { atMs = NOW_MS, holdUntilMs = null as number | null } = {},
      ) => {
        clock.setMs(atMs);
        const attempt = { atMs, status: 200, error: null, durationMs: 5, responseText: "ok" };
        const [reason] = await queue.settle([{ delivery, verdict: outcome, holdUntilMs, attempt }], rule);
        return reason;
      };
      const list = (webhookId: string, state?: LoggedDelivery["state"]) =>
        log.list({ webhookId, state, after: undefined, max: 100 });
      const own = (webhookId: string, nowSecs = NOW) => ({ id: webhookId, ownerFid: 3, nowSecs });
      const sweep = async (sweepName: string, nowSecs: number) => {
        const found = fixture.sweeps.find((one) => one.name === sweepName);
        if (!found) throw new Error(`no sweep ${sweepName}`);
        clock.setSecs(nowSecs + SWEEP_MARGIN_SECS);
        let swept = await found.step(7);
        let deleted = swept.deleted;
        while (swept.more) {
          swept = await found.step(7);
          deleted += swept.deleted;
        }
        return deleted;
      };
      const health = async (webhookId: string) => (await webhooks.find(webhookId, NOW))?.health;
      return {
        ...fixture,
        addWebhook,
        event,
        publish,
        claim,
        claimMany,
        take,
        settle,
        list,
        own,
        sweep,
        health,
      };
    }

    test("a reader of the changes gets each change once, with the current state of each webhook", async () => {
      const { addWebhook, webhooks, publications, own } = start();
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
      const { addWebhook, publications } = start();
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
      const { addWebhook, publications, webhooks, own } = start();
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
      const { addWebhook, publish, event, list, rows } = start();
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
      expect(rows("delivery_events")).toBe(2);
      expect((await list("hook-2")).map(({ messageId }) => messageId)).toEqual([
        messageIdOf("event-2", "hook-2"),
        messageIdOf("event-1", "hook-2"),
      ]);
      const ids = [...(await list("hook-1")), ...(await list("hook-2"))].map(({ messageId }) => messageId);
      expect(new Set(ids).size).toBe(4);
    });

    test("nothing is queued for an inactive or deleted webhook, and an event without a webhook is not stored", async () => {
      const { addWebhook, publish, event, rows, webhooks, own } = start();
      const hook = await addWebhook(1);
      const inactive = await addWebhook(2, { active: false });
      await webhooks.delete(own(hook));
      expect(await publish([event(1, hook, inactive, "never")])).toMatchObject({ queued: 0, dropped: 0 });
      expect([rows("delivery_events"), rows("deliveries")]).toEqual([0, 0]);
    });

    test("events that were matched before a webhook changed are not queued until they are matched again", async () => {
      const { addWebhook, publications, event, rows, webhooks, own } = start();
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
        expect([rows("delivery_events"), rows("deliveries")]).toEqual([0, 0]);
      }
      const { version } = await publications.changesSince(0);
      const matched = { version, nowSecs: NOW, events: [event(1, "hook-2")] };
      expect(await publications.publish(matched)).toMatchObject({ queued: 1 });
    });

    test("a claim returns the body, the webhook and its current secrets", async () => {
      const { addWebhook, publish, event, take, settle, webhooks, own } = start();
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
      const { addWebhook, publish, event, claim } = start();
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
      const { addWebhook, publish, event, claim, take, settle, list, health } = start();
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
      const { addWebhook, publish, event, take, queue } = start();
      const hook = await addWebhook(1);
      await publish([event(1, hook), event(2, hook)]);
      await take(hook);
      await take(hook);
      expect(await queue.recover(NOW_MS + 1)).toBe(2);
      expect(await queue.recover(NOW_MS + 1)).toBe(0);
      expect((await take(hook, NOW_MS + 1)).attempts).toBe(0);
    });

    test("a claim of several returns the longest due first, as many as there are and as the limit allows", async () => {
      const { addWebhook, publish, event, claimMany } = start();
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
      const { addWebhook, publish, event, claimMany, queue, list } = start();
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

    test("the rate limit holds for calls that start after the longest hold", async () => {
      const { addWebhook, publish, event, claimMany } = start();
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

    test("settlements of one group are applied in order, each to its own webhook", async () => {
      const { addWebhook, publish, event, claimMany, queue, health, log, list } = start();
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

    test("a released delivery is unchanged", async () => {
      const { addWebhook, publish, event, take, queue, list } = start();
      const hook = await addWebhook(1);
      await publish([event(1, hook)]);
      const before = await list(hook);
      await queue.release(await take(hook), NOW_MS);
      expect(await list(hook)).toEqual(before);
      expect((await take(hook)).attempts).toBe(0);
    });

    test("pages of webhooks with queued deliveries omit inactive webhooks and those with none due", async () => {
      const { addWebhook, publish, event, queue, webhooks, own, take, settle } = start();
      const hooks = await Promise.all([1, 2, 3, 4, 5].map((n) => addWebhook(n)));
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
      const { addWebhook, publish, event, claim, take, webhooks, own, list } = start();
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

    test("no interval of the window's length has more calls than the limit", async () => {
      const { addWebhook, publish, event, claim, settle } = start();
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

    test("the limit holds over a restart, and each webhook has its own", async () => {
      const { addWebhook, publish, event, claim, take } = start();
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
      const { addWebhook, publish, event, claim, list, health, log } = start();
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
      const { addWebhook, publish, event, claim } = start();
      const hook = await addWebhook(1);
      await publish([event(1, hook), event(2, hook), event(3, hook)]);
      // The node was down for an hour.
      const hourLater = NOW_MS + 3_600_000;
      expect((await claim(hook, hourLater))?.delivery?.body).toBe('{"n":1}');
      const next = await claim(hook, hourLater + 899_999);
      expect([next?.delivery?.body, next?.dropped]).toEqual(['{"n":2}', 0]);
    });

    test("a requested delay of a receiver applies to its deliveries, which are not dropped for it", async () => {
      const { addWebhook, publish, event, claim, take, settle } = start();
      const hook = await addWebhook(1);
      await publish([event(1, hook), event(2, hook)]);
      const heldUntil = NOW_MS + 3_600_000;
      const outcome = { kind: "retry", dueAtMs: heldUntil } as const;
      await settle(await take(hook), outcome, { holdUntilMs: heldUntil });
      const held = await claim(hook, heldUntil - 1);
      expect([held?.delivery, held?.dropped, held?.nextAtMs]).toEqual([undefined, 0, heldUntil]);
      expect((await take(hook, heldUntil)).body).toBe('{"n":2}');
    });

    test("events for a full queue are dropped at once, for that webhook alone", async () => {
      const { addWebhook, publish, event, health, rows, take, settle } = start();
      const hooks = [await addWebhook(1), await addWebhook(2)];
      await publish(Array.from({ length: MAX_QUEUED }, (_, n) => event(n, "hook-1")));
      expect(await publish([event(900, ...hooks)])).toMatchObject({
        queued: 1,
        dropped: 1,
        webhookIds: ["hook-2"],
      });
      expect(await health("hook-1")).toMatchObject({ queued: MAX_QUEUED, dropped: 1 });
      expect(await health("hook-2")).toMatchObject({ queued: 1, dropped: 0 });
      expect(rows("deliveries")).toBe(MAX_QUEUED + 1);
      // An event that is already queued and published again after a crash does not count as dropped.
      expect(await publish([event(1, "hook-1")])).toMatchObject({ queued: 0, dropped: 0 });
      await settle(await take("hook-1"), { kind: "delivered" });
      expect(await publish([event(901, "hook-1")])).toMatchObject({ queued: 1, dropped: 0 });
    });

    test("every attempt is logged with its response, and with the outcome of the delivery", async () => {
      const { addWebhook, publish, event, take, queue, list, log, health } = start();
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

    test("the limit of failed deliveries in a row deactivates a webhook, but only over the minimum time", async () => {
      const { addWebhook, publish, event, take, settle, webhooks, health, own, publications } = start();
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

    test("a receiver that is gone deactivates its webhook at once; attempts in flight change nothing", async () => {
      const { addWebhook, publish, event, take, settle, claim, webhooks, list } = start();
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

    test("lists have the deliveries of one webhook, newest first, and pages neither repeat nor skip", async () => {
      const { addWebhook, publish, event, log, take, settle } = start();
      const hooks = [await addWebhook(1), await addWebhook(2)];
      for (let n = 0; n < 12; n += 1) await publish([event(n, ...hooks)], NOW + Math.floor(n / 3));
      for (let n = 0; n < 4; n += 1) {
        const outcome = n % 2 === 0 ? ({ kind: "delivered" } as const) : ({ kind: "failed" } as const);
        await settle(await take("hook-1", NOW_MS + 60_000), outcome);
      }
      const walk = async (state: LoggedDelivery["state"] | undefined) => {
        const found: LoggedDelivery[] = [];
        for (;;) {
          const after = found.at(-1);
          const page = await log.list({ webhookId: "hook-1", state, after, max: 5 });
          found.push(...page);
          if (page.length < 5) return found;
        }
      };
      const all = await walk(undefined);
      expect(all.map(({ eventId }) => eventId)).toEqual(
        Array.from({ length: 12 }, (_, n) => `event-${11 - n}`),
      );
      expect(await walk("queued")).toHaveLength(8);
      expect((await walk("failed")).map(({ eventId }) => eventId)).toEqual(["event-3", "event-1"]);
      expect(await log.list({ webhookId: "never", state: undefined, after: undefined, max: 5 })).toEqual([]);
    });

    test("a finished delivery is sent again under its id, and its earlier attempts stay", async () => {
      const { addWebhook, publish, event, take, settle, log, own, list, health } = start();
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
      const { addWebhook, publish, event, take, settle, log, own, list } = start();
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
      const { addWebhook, publish, event, take, settle, log, webhooks, own } = start();
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
      const { addWebhook, publish, event, log, own, list, take } = start();
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

    test("finished deliveries are deleted after a week with their attempts, and the event with its last delivery", async () => {
      const { addWebhook, publish, event, take, settle, sweep, rows, list, log } = start();
      const hooks = [await addWebhook(1), await addWebhook(2)];
      await publish(Array.from({ length: 20 }, (_, n) => event(n, ...hooks)));
      for (let n = 0; n < 20; n += 1) await settle(await take("hook-1"), { kind: "delivered" });
      expect(await sweep("deliveries", NOW + WEEK - 1)).toBe(0);
      expect(await sweep("deliveries", NOW + WEEK)).toBe(20);
      expect([rows("deliveries"), rows("delivery_attempts"), rows("delivery_events")]).toEqual([20, 0, 20]);
      expect(await log.totals()).toMatchObject({ delivered: 0, queued: 20 });
      await settle(await take("hook-2"), { kind: "failed" });
      expect(await sweep("deliveries", NOW + WEEK)).toBe(1);
      expect([await list("hook-1"), rows("delivery_events")]).toEqual([[], 19]);
      // Queued deliveries stay, however long the webhook is inactive.
      expect(await sweep("deliveries", NOW + 100 * WEEK)).toBe(0);
      expect(rows("deliveries")).toBe(19);
    });

    test("deliveries of a deleted webhook are never claimed again, and are deleted with their rows", async () => {
      const { addWebhook, publish, event, take, claim, settle, webhooks, own, sweep, rows, log, queue } =
        start();
      const hooks = [await addWebhook(1), await addWebhook(2)];
      await publish(Array.from({ length: 20 }, (_, n) => event(n, ...hooks)));
      const underWay = await take("hook-1");
      await settle(await take("hook-1"), { kind: "delivered" });
      await webhooks.delete(own("hook-1"));
      expect(await claim("hook-1")).toBeUndefined();
      expect(await settle(underWay, { kind: "retry", dueAtMs: NOW_MS })).toBeUndefined();
      expect((await queue.dueWebhooks(0, 10)).webhooks.map(({ webhookId }) => webhookId)).toEqual(["hook-2"]);
      expect(await sweep("orphaned_deliveries", NOW)).toBe(20);
      expect([rows("deliveries"), rows("delivery_events"), rows("webhook_health")]).toEqual([20, 20, 1]);
      expect([rows("delivery_attempts"), rows("delivery_rates")]).toEqual([0, 0]);
      expect(await log.totals()).toEqual({ queued: 20, delivered: 0, failed: 0, dropped: 0 });
      expect(await sweep("orphaned_deliveries", NOW)).toBe(0);
      expect(await sweep("webhook_changes", NOW + DAY - 1)).toBe(0);
      expect(await sweep("webhook_changes", NOW + DAY)).toBe(1);
    });

    test("counts equal the rows after any operations in any order", async () => {
      const { addWebhook, publish, event, claim, settle, log, own, list, health, queue, sweep } = start();
      const hooks = [await addWebhook(1), await addWebhook(2)];
      let nowMs = NOW_MS;
      let nextEvent = 0;
      const limit: CallLimit = { calls: 3, windowMs: 10_000, maxWaitMs: 20_000 };
      const step = fc.record({
        act: fc.constantFrom("publish", "call", "leave", "replay", "recover", "sweep", "wait"),
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
        if (act === "recover") await queue.recover(nowMs);
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
