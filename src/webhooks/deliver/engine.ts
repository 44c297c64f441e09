import { StateUnavailable } from "../../db/state/unavailable.ts";
import { createFaultLog } from "../../db/state/unavailable-log.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { SetTimer } from "../../runtime/set-timer.ts";
import type {
  CallLimit,
  ClaimedDelivery,
  DeliveryQueue,
  FailureRule,
  Settlement,
} from "../store/delivery-queue.ts";
import type { CallReceiver } from "./call-receiver.ts";
import { classifyOutcome } from "./classify-outcome.ts";
import type { DeliveryCounters } from "./delivery-stats.ts";
import {
  FairScheduler,
  type SchedulerLimits,
  type SchedulerSlot,
  type SchedulerStats,
} from "./fair-scheduler.ts";
import type { RetryPolicy } from "./schedule.ts";

/** Limit of outcomes that wait to be stored; at the limit no further call starts. */
const MAX_UNRECORDED = 256;
/** Limit of deliveries of all webhooks that are claimed and wait for a slot; at the limit, claims are of one delivery. */
const MAX_AHEAD = 512;
/** Longest time from a claim to the call. A delivery that waited longer is claimed again: its webhook may have changed. */
const MAX_HOLD_MS = 1_000;
/** Limit of settlements that share a transaction. */
const MAX_SETTLED_TOGETHER = 128;
/** Delay before a settlement that could not be stored is retried. */
const SETTLE_RETRY_MS = 250;
/** Webhooks that are read at a time when the queue is polled. */
const WEBHOOKS_PER_POLL = 500;

export interface EngineSettings {
  readonly scheduler: SchedulerLimits;
  readonly limit: CallLimit;
  readonly retries: RetryPolicy;
  readonly failures: FailureRule;
  /** The longest delay before another attempt, also by Retry-After; longer than a lease. */
  readonly maxRetryDelayMs: number;
  /** Longer than any call takes, so that no other claim gets a delivery in flight. */
  readonly leaseMs: number;
  /** How often the queue is polled for deliveries that `wake` did not announce. */
  readonly pollIntervalMs: number;
  /** Delay of a webhook after a fault of the node, such as a full disk. */
  readonly errorBackoffMs: number;
}

export interface EngineDeps {
  readonly queue: DeliveryQueue;
  readonly call: CallReceiver;
  readonly stats: DeliveryCounters;
  readonly clock: Clock;
  readonly setTimer: SetTimer;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly log: Logger;
  readonly settings: EngineSettings;
}

/** Sends queued deliveries. */
export interface DeliveryEngine {
  /** Schedules webhooks that got queued deliveries or are active again. */
  wake(webhookIds: readonly string[]): void;
  stats(): SchedulerStats;
  /** Starts no more calls, waits `graceMs` for calls in flight, then aborts them; they are retried after the next start. */
  stop(graceMs: number): Promise<void>;
}

/** Deliveries of a webhook that are claimed and wait for a slot, the longest due first. */
interface Ahead {
  readonly claimedAtMs: number;
  readonly deliveries: ClaimedDelivery[];
}

interface PendingSettlement {
  readonly settlement: Settlement;
  readonly resolve: (reason: string | undefined) => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * Starts to send queued deliveries; those that an earlier process had in flight come first.
 *
 * Each delivery is claimed, sent and settled. The claim reads the current webhook and its secrets and takes a lease that
 * only the settlement ends. After a crash between the two, the delivery is sent again.
 *
 * The writer of the state is the bottleneck, so claims and settlements are made in groups: a webhook that receives quickly
 * has some deliveries claimed ahead of its slots, for at most `MAX_HOLD_MS`. As soon as one call fails they are given back,
 * because the failure may deactivate the webhook or delay its deliveries. Settlements of one turn of the event loop, and
 * those that arrive while a group is being stored, share a transaction.
 */
export async function startDeliveryEngine(deps: EngineDeps): Promise<DeliveryEngine> {
  const { queue, call, stats, clock, setTimer, random, log, settings } = deps;
  const scheduler = new FairScheduler(settings.scheduler);
  const aborter = new AbortController();
  const running = new Set<Promise<void>>();
  const ahead = new Map<string, Ahead>();
  /** Webhooks with a claim under way, and whether a call has failed meanwhile. */
  const claiming = new Map<string, { isRevoked: boolean }>();
  let aheadCount = 0;
  let settling: PendingSettlement[] = [];
  /** Groups of settlements that are being stored. */
  let groups = 0;
  let isFlushScheduled = false;
  let unrecorded = 0;
  let isStopping = false;
  let timer: { readonly atMs: number; readonly cancel: () => void } | undefined;
  let cancelPoll: (() => void) | undefined;
  const logFault = createFaultLog({ log, clock });
  /** Callbacks that end the current sleeps. */
  const sleeping = new Set<() => void>();

  /** Starts as many calls as the scheduler allows, and sets a timer for the next due time. */
  function pump(): void {
    if (isStopping) return;
    while (unrecorded < MAX_UNRECORDED) {
      const slot = scheduler.acquire(clock.nowMs());
      if (!slot) break;
      track(attempt(slot));
    }
    const atMs = scheduler.nextDueMs();
    if (atMs === timer?.atMs) return;
    timer?.cancel();
    timer = atMs === undefined ? undefined : { atMs, cancel: setTimer(waitUntil(atMs), onTimer) };
  }

  function onTimer(): void {
    timer = undefined;
    pump();
  }

  /** Caps the delay: timers have only 31 bits of milliseconds. An timer that is early is set again. */
  function waitUntil(atMs: number): number {
    return Math.min(Math.max(atMs - clock.nowMs(), 1), settings.pollIntervalMs);
  }

  function track(work: Promise<void>): void {
    const tracked = work.finally(() => running.delete(tracked));
    running.add(tracked);
  }

  function sleep(ms: number): Promise<void> {
    if (isStopping) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = setTimer(ms, () => end());
      const end = () => {
        cancel();
        sleeping.delete(end);
        resolve();
      };
      sleeping.add(end);
    });
  }

  async function attempt(slot: SchedulerSlot): Promise<void> {
    const { webhookId } = slot;
    const delivery = takeAhead(slot) ?? (await claim(slot));
    if (!delivery) {
      slot.release(clock.nowMs());
      return pump();
    }
    // The webhook may have more due deliveries and a free slot for them.
    pump();
    const startedAtMs = clock.nowMs();
    try {
      const outcome = await call(delivery, aborter.signal);
      const { durationMs } = outcome.ok ? outcome.value : outcome.error;
      if (!outcome.ok && outcome.error.kind === "cancelled") {
        return await queue.release(delivery, clock.nowMs());
      }
      const attempted = { attempt: delivery.attempts + 1, startedAtMs, random: random() };
      const classified = classifyOutcome(outcome, { ...attempted, policy: settings.retries });
      const isDelivered = classified.verdict.kind === "delivered";
      if (!isDelivered) giveBack(webhookId);
      slot.release(clock.nowMs(), durationMs, isDelivered);
      await settle(webhookId, delivery, classified);
    } catch (cause) {
      // Its lease expires, and then it is sent again.
      logFault(cause, { webhookId }, "A delivery attempt failed because of a fault of the node");
    } finally {
      slot.release(clock.nowMs());
      pump();
    }
  }

  /** Takes the next delivery of the webhook that is already claimed. */
  function takeAhead(slot: SchedulerSlot): ClaimedDelivery | undefined {
    const claimed = ahead.get(slot.webhookId);
    if (!claimed) return undefined;
    const nowMs = clock.nowMs();
    const heldMs = nowMs - claimed.claimedAtMs;
    if (heldMs < 0 || heldMs > MAX_HOLD_MS) {
      giveBack(slot.webhookId);
      return undefined;
    }
    const delivery = claimed.deliveries.shift();
    aheadCount -= 1;
    if (claimed.deliveries.length === 0) ahead.delete(slot.webhookId);
    // More may have been queued since the claim, so the next claim finds out what is due.
    slot.claimed(nowMs, nowMs);
    return delivery;
  }

  /** Undoes the claims of the webhook's deliveries that wait for a slot. */
  function giveBack(webhookId: string): void {
    const underWay = claiming.get(webhookId);
    if (underWay) underWay.isRevoked = true;
    const claimed = ahead.get(webhookId);
    if (!claimed) return;
    ahead.delete(webhookId);
    aheadCount -= claimed.deliveries.length;
    unclaim(webhookId, claimed.deliveries);
  }

  function unclaim(webhookId: string, deliveries: readonly ClaimedDelivery[]): void {
    // If that fails, their leases expire, and then they are sent.
    const given = queue
      .unclaim(deliveries)
      .catch((cause) => logFault(cause, { webhookId }, "Claimed deliveries could not be given back"));
    track(given);
  }

  /** Claims deliveries of the webhook and returns the first; undefined when there is none now. */
  async function claim(slot: SchedulerSlot): Promise<ClaimedDelivery | undefined> {
    const { webhookId, claimLimit } = slot;
    const nowMs = clock.nowMs();
    const max = aheadCount + claimLimit > MAX_AHEAD ? 1 : claimLimit;
    // Reserved until the claim has returned.
    aheadCount += max;
    const underWay = { isRevoked: false };
    claiming.set(webhookId, underWay);
    try {
      const claimed = await queue.claim({
        webhookId,
        nowMs,
        leaseEndsAtMs: nowMs + settings.leaseMs,
        maxRetryDelayMs: settings.maxRetryDelayMs,
        limit: settings.limit,
        max,
        maxHoldMs: MAX_HOLD_MS,
      });
      const [delivery, ...waiting] = claimed?.deliveries ?? [];
      if (waiting.length > 0 && (underWay.isRevoked || isStopping)) unclaim(webhookId, waiting);
      else if (waiting.length > 0) {
        ahead.set(webhookId, { claimedAtMs: nowMs, deliveries: waiting });
        aheadCount += waiting.length;
      }
      slot.claimed(waiting.length > 0 ? nowMs : (claimed?.nextAtMs ?? null), clock.nowMs());
      if (claimed && claimed.dropped > 0) {
        stats.countDropped(claimed.dropped);
        log.warn({ webhookId, dropped: claimed.dropped }, "Dropped deliveries that had waited too long");
      }
      return delivery;
    } catch (cause) {
      logFault(cause, { webhookId }, "The next delivery could not be claimed");
      slot.claimed(nowMs + settings.errorBackoffMs, nowMs);
      return undefined;
    } finally {
      claiming.delete(webhookId);
      aheadCount -= max;
    }
  }

  async function settle(
    webhookId: string,
    delivery: ClaimedDelivery,
    classified: ReturnType<typeof classifyOutcome>,
  ): Promise<void> {
    stats.countAttempt(classified);
    unrecorded += 1;
    try {
      const { seq, leaseEndsAtMs } = delivery;
      const settled = settleInGroup({ delivery: { seq, leaseEndsAtMs }, ...classified });
      // After the settlement was submitted, so that the next claim sees the hold that the receiver requested.
      pump();
      const reason = await settled;
      if (reason !== undefined) {
        stats.countDeactivated();
        log.warn({ webhookId, reason }, "Deactivated a webhook");
      }
      if (classified.verdict.kind === "retry")
        scheduler.wake(webhookId, classified.verdict.dueAtMs, clock.nowMs());
    } finally {
      unrecorded -= 1;
    }
  }

  /** Adds a settlement to the next group. One that affects the next claim is submitted at once, after those before it. */
  function settleInGroup(settlement: Settlement): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      settling.push({ settlement, resolve, reject });
      if (settlement.verdict.kind !== "delivered" || settling.length >= MAX_SETTLED_TOGETHER)
        submitSettlements();
      else if (groups === 0) scheduleFlush();
    });
  }

  function scheduleFlush(): void {
    if (isFlushScheduled) return;
    isFlushScheduled = true;
    setImmediate(() => {
      isFlushScheduled = false;
      submitSettlements();
    });
  }

  function submitSettlements(): void {
    if (settling.length === 0) return;
    const group = settling;
    settling = [];
    groups += 1;
    void storeGroup(group).finally(() => {
      groups -= 1;
      submitSettlements();
    });
  }

  /**
   * Retries settlements within their leases while the state is unavailable, because the calls would otherwise be repeated.
   * A repeated settlement changes nothing: the first one has ended the lease.
   */
  async function storeGroup(group: readonly PendingSettlement[]): Promise<void> {
    for (let left = group; left.length > 0; ) {
      try {
        const reasons = await queue.settle(
          left.map(({ settlement }) => settlement),
          settings.failures,
        );
        for (const [at, { resolve }] of left.entries()) resolve(reasons[at]);
        return;
      } catch (cause) {
        const nowMs = clock.nowMs();
        const mayRetry = cause instanceof StateUnavailable && !isStopping;
        const isLeased = ({ settlement }: PendingSettlement) => nowMs < settlement.delivery.leaseEndsAtMs;
        for (const pending of left) if (!mayRetry || !isLeased(pending)) pending.reject(cause);
        left = mayRetry ? left.filter(isLeased) : [];
        if (left.length === 0) return;
        logFault(cause, {}, "A delivery could not be settled");
        await sleep(SETTLE_RETRY_MS);
      }
    }
  }

  /** Requeues the deliveries that an earlier process had in flight; false while the state is unavailable. */
  async function recover(): Promise<boolean> {
    try {
      const recovered = await queue.recover(clock.nowMs());
      if (recovered > 0) log.info({ deliveries: recovered }, "Recovered deliveries that were in flight");
      return true;
    } catch (cause) {
      if (!(cause instanceof StateUnavailable)) throw cause;
      logFault(cause, {}, "Deliveries that were in flight could not be recovered");
      return false;
    }
  }

  /** Schedules queued deliveries that `wake` did not announce: at the start, and after faults. */
  async function pollQueue(): Promise<void> {
    let position: number | undefined = 0;
    while (position !== undefined && !isStopping) {
      const found = await queue.dueWebhooks(position, WEBHOOKS_PER_POLL);
      for (const { webhookId, dueAtMs, isFailing } of found.webhooks) {
        const nowMs = clock.nowMs();
        // It was scheduled before the clock went back; the claim makes it due.
        const atMs = dueAtMs > nowMs + settings.maxRetryDelayMs ? nowMs : dueAtMs;
        scheduler.wake(webhookId, atMs, nowMs, isFailing);
      }
      position = found.last;
      pump();
    }
  }

  function schedulePoll(): void {
    cancelPoll = setTimer(settings.pollIntervalMs, () => {
      track(
        pollQueue()
          .catch((cause) => logFault(cause, {}, "The delivery queue could not be polled"))
          .finally(() => {
            if (!isStopping) schedulePoll();
          }),
      );
    });
  }

  // Only after the recovery: otherwise recovered deliveries would wait until their leases expire.
  async function startPolling(): Promise<void> {
    await pollQueue();
    if (!isStopping) schedulePoll();
  }

  if (await recover()) await startPolling();
  else {
    const retryRecovery = async () => {
      do await sleep(settings.errorBackoffMs);
      while (!isStopping && !(await recover()));
      if (!isStopping) await startPolling();
    };
    track(retryRecovery().catch((cause) => log.error({ err: cause }, "The delivery engine could not start")));
  }

  return {
    wake(webhookIds) {
      const nowMs = clock.nowMs();
      for (const webhookId of webhookIds) scheduler.wake(webhookId, nowMs, nowMs);
      pump();
    },

    stats: () => scheduler.stats(clock.nowMs()),

    async stop(graceMs) {
      isStopping = true;
      timer?.cancel();
      cancelPoll?.();
      for (const end of sleeping) end();
      for (const webhookId of [...ahead.keys()]) giveBack(webhookId);
      const cancelAbort = setTimer(graceMs, () => aborter.abort(new Error("the process is shutting down")));
      while (running.size > 0) await Promise.all(running);
      cancelAbort();
    },
  };
}
