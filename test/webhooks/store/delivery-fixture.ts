import { describe } from "bun:test";
import type { Sweep } from "../../../src/db/state/state-db.ts";
import type { ReplayStore } from "../../../src/webhooks/replay/replay-store.ts";
import type { DeliveryLog, LoggedDelivery } from "../../../src/webhooks/store/delivery-log.ts";
import type { DeliveryPublications, QueuedEvent } from "../../../src/webhooks/store/delivery-publications.ts";
import type {
  CallLimit,
  ClaimedDelivery,
  DeliveryQueue,
  Verdict,
} from "../../../src/webhooks/store/delivery-queue.ts";
import type { WebhookStore } from "../../../src/webhooks/store/webhook-store.ts";
import { UNTRIED, type Webhook } from "../../../src/webhooks/store/webhook-store.ts";
import { makeSecret } from "../../management/owned-store-contract.ts";
import { ManualClock } from "../../support/clock.ts";
import { disposedAfterEach } from "../../support/disposed-after-each.ts";
import { SWEEP_MARGIN_SECS } from "../../support/state-stores.ts";

/** The stores of one process over the same state. */
export interface DeliveryFixture extends AsyncDisposable {
  readonly webhooks: WebhookStore;
  readonly publications: DeliveryPublications;
  readonly queue: DeliveryQueue;
  readonly log: DeliveryLog;
  readonly replays: ReplayStore;
  readonly sweeps: readonly Sweep[];
  /** Rows of a table. */
  rows(table: string): Promise<number>;
  /** The stores of a process that starts after this one was killed. */
  nextProcess(): Promise<{ readonly queue: DeliveryQueue; readonly replays: ReplayStore }>;
}

export type OpenDeliveries = (clock: ManualClock) => Promise<DeliveryFixture>;

/** Limit of queued deliveries of one webhook in a fixture. */
export const MAX_QUEUED = 40;

export const NOW = 1_000_000;
export const NOW_MS = NOW * 1000;
export const DAY = 86_400;
export const WEEK = 7 * DAY;
export const LEASE_MS = 40_000;
const LONGEST_WAIT_MS = 400 * DAY * 1000;
export const plenty: CallLimit = { calls: 1000, windowMs: 60_000, maxWaitMs: 900_000 };
export const rule = { failures: 3, runSecs: DAY };

interface ClaimOptions {
  readonly nowMs?: number;
  readonly limit?: CallLimit;
  readonly maxHoldMs?: number;
}

/** Describes tests over stores that each of them opens with `start`. */
export function describeDeliveries(
  name: string,
  open: OpenDeliveries,
  define: (start: () => Promise<DeliverySetup>) => void,
): void {
  describe(name, () => {
    const keep = disposedAfterEach();

    define(async () => {
      const clock = new ManualClock(NOW);
      const fixture = keep(await open(clock));
      return setupOf(fixture, clock);
    });
  });
}

export type DeliverySetup = ReturnType<typeof setupOf>;

function setupOf(fixture: DeliveryFixture, clock: ManualClock) {
  const { webhooks, publications, log } = fixture;
  let current = fixture.queue;
  let replaysHere = fixture.replays;
  const queue: DeliveryQueue = {
    endLeasesOfTheDead: (nowMs, max) => current.endLeasesOfTheDead(nowMs, max),
    dueWebhooks: (after, max) => current.dueWebhooks(after, max),
    claim: (request) => current.claim(request),
    settle: (settlements, byRule) => current.settle(settlements, byRule),
    unclaim: (deliveries) => current.unclaim(deliveries),
    release: (delivery, nowMs) => current.release(delivery, nowMs),
  };
  /** Kills the process: from now on `queue` is that of the next one. Returns the queue of the killed one. */
  const restart = async () => {
    const killed = current;
    ({ queue: current, replays: replaysHere } = await fixture.nextProcess());
    return killed;
  };
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
    { nowMs = NOW_MS, limit = plenty, maxHoldMs = 0 }: ClaimOptions = {},
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
    const delivery = (await claimMany(webhookId, 1, { nowMs }))?.deliveries[0];
    if (!delivery) throw new Error("nothing to claim");
    return delivery;
  };
  const settle = async (
    delivery: ClaimedDelivery,
    outcome: Verdict,
    { atMs = NOW_MS, holdUntilMs = null as number | null, by = queue } = {},
  ) => {
    clock.setMs(atMs);
    const attempt = { atMs, status: 200, error: null, durationMs: 5, responseText: "ok" };
    const settlement = { delivery, verdict: outcome, holdUntilMs, attempt };
    const [reason] = await by.settle([settlement], rule);
    return reason;
  };
  const list = async (webhookId: string, state?: LoggedDelivery["state"]) =>
    (await log.list({ webhookId, state, after: undefined, max: 100 })).deliveries;
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
  const sweepAll = async (nowSecs: number) => {
    for (const { name } of fixture.sweeps) await sweep(name, nowSecs);
  };
  const health = async (webhookId: string) => (await webhooks.find(webhookId, NOW))?.health;
  return {
    ...fixture,
    queue,
    restart,
    /** Those of the current process. */
    here: () => replaysHere,
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
    sweepAll,
    health,
  };
}
