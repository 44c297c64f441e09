import { createFaultLog, StateUnavailable } from "../../db/state/unavailable.ts";
import type { Clock, SetTimer } from "../../runtime/clock.ts";
import type { Gate } from "../../runtime/gate.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import type { CallLimit, ClaimedDelivery, DeliveryQueue, FailureRule } from "../store/delivery-queue.ts";
import type { CallReceiver } from "./call-receiver.ts";
import { createClaims } from "./claims.ts";
import { classifyOutcome } from "./classify-outcome.ts";
import type { DeliveryCounters } from "./delivery-stats.ts";
import {
  FairScheduler,
  type SchedulerLimits,
  type SchedulerSlot,
  type SchedulerStats,
} from "./fair-scheduler.ts";
import { createQueuePoll } from "./queue-poll.ts";
import type { RetryPolicy } from "./schedule.ts";
import { createSettlements } from "./settlements.ts";

/** Limit of outcomes waiting to be stored; at the limit no further call starts. */
const MAX_UNRECORDED = 256;
/** The longest delay before a poll continues that has left webhooks to the next one. */
const CONTINUE_AFTER_MS = 1_000;

export interface EngineSettings {
  readonly scheduler: SchedulerLimits;
  readonly limit: CallLimit;
  readonly retries: RetryPolicy;
  readonly failures: FailureRule;
  /** The longest delay before another attempt, even with Retry-After; longer than a lease. */
  readonly maxRetryDelayMs: number;
  /** Longer than any call takes, so that no other claim gets a delivery that is in flight. */
  readonly leaseMs: number;
  /** How often the queue is polled for deliveries that `wake` did not announce, such as those of other processes. */
  readonly pollIntervalMs: number;
  /** Delay of a webhook after a fault of the node, such as a full disk. */
  readonly errorBackoffMs: number;
}

export interface EngineDeps {
  readonly queue: DeliveryQueue;
  readonly call: CallReceiver;
  /** Closed while no delivery may be claimed or called. */
  readonly gate: Gate;
  readonly stats: DeliveryCounters;
  readonly clock: Clock;
  readonly setTimer: SetTimer;
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  readonly log: Logger;
  readonly settings: EngineSettings;
}

/** Sends queued deliveries. */
export interface DeliveryEngine {
  /** Schedules webhooks that have new queued deliveries. */
  wake(webhookIds: readonly string[]): void;
  /** Schedules a webhook that was created, changed or deleted, and starts no call with what it was before. */
  changed(webhookId: string): void;
  stats(): SchedulerStats;
  /** Starts no more calls, waits `graceMs` for calls in flight, then aborts them; they are retried after the next start. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Starts sending queued deliveries, first those that an earlier process had in flight.
 *
 * Each delivery is claimed, sent and settled. The claim reads the current webhook and its secrets and takes a lease that only the
 * settlement ends. After a crash between the two, the delivery is sent again.
 *
 * The writer of the state is the bottleneck, so claims (`createClaims`) and settlements (`createSettlements`) are made in groups.
 */
export async function startDeliveryEngine(deps: EngineDeps): Promise<DeliveryEngine> {
  const { queue, call, gate, stats, clock, setTimer, random, log, settings } = deps;
  const scheduler = new FairScheduler(settings.scheduler);
  const aborter = new AbortController();
  const stopping = new AbortController();
  let waitsForGate = false;
  const running = new Set<Promise<void>>();
  let unrecorded = 0;
  let isStopping = false;
  let timer: { readonly atMs: number; readonly cancel: () => void } | undefined;
  let cancelPoll: (() => void) | undefined;
  const logFault = createFaultLog({ log, clock });
  const continuePollMs = Math.min(settings.pollIntervalMs, CONTINUE_AFTER_MS);
  const retryPollMs = Math.min(settings.pollIntervalMs, settings.errorBackoffMs);
  /** Callbacks that end the current sleeps. */
  const sleeping = new Set<() => void>();
  const claims = createClaims({
    queue,
    clock,
    settings,
    onDropped(webhookId, dropped) {
      stats.countDropped(dropped);
      log.warn({ webhookId, dropped }, "Dropped deliveries that had waited too long");
    },
    onFault: (cause, webhookId, message) => logFault(cause, { webhookId }, message),
    track,
  });
  const pollQueue = createQueuePoll({
    queue,
    clock,
    log,
    settings,
    isStopping: () => isStopping,
    onDue(webhooks) {
      const nowMs = clock.nowMs();
      for (const { webhookId, dueAtMs, isFailing } of webhooks)
        scheduler.wake(webhookId, dueAtMs, nowMs, isFailing);
      pump();
    },
  });
  const storeSettlement = createSettlements({
    queue,
    rule: settings.failures,
    clock,
    sleep,
    isStopping: () => isStopping,
    onFault: (cause) => logFault(cause, {}, "A delivery could not be settled"),
  });

  /** Starts as many calls as the scheduler allows, and sets a timer for the next due time. */
  function pump(): void {
    if (isStopping) return;
    if (!gate.isOpen()) {
      waitForGate();
      return;
    }
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

  /** Gives back deliveries that are claimed but not called, and continues when the gate opens. */
  function waitForGate(): void {
    claims.giveBackAll();
    if (waitsForGate) return;
    waitsForGate = true;
    gate.opened(stopping.signal).then(
      () => {
        waitsForGate = false;
        pump();
      },
      () => undefined,
    );
  }

  function onTimer(): void {
    timer = undefined;
    pump();
  }

  /** Caps the delay, because timers have only 31 bits of milliseconds. A timer that fires early is set again. */
  function waitUntil(atMs: number): number {
    return Math.min(Math.max(atMs - clock.nowMs(), 1), settings.pollIntervalMs);
  }

  function track(work: Promise<void>): void {
    const tracked = work.finally(() => running.delete(tracked));
    running.add(tracked);
  }

  function sleep(ms: number): Promise<void> {
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
    const delivery = await claims.next(slot);
    if (!delivery) {
      slot.release(clock.nowMs());
      return pump();
    }
    if (!gate.isOpen()) {
      claims.undo(webhookId, [delivery]);
      slot.release(clock.nowMs());
      // The webhook is due again, and nothing else announces it.
      scheduler.wake(webhookId, clock.nowMs(), clock.nowMs());
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
      if (!isDelivered) claims.giveBack(webhookId);
      slot.release(clock.nowMs(), { durationMs, isDelivered });
      await settle(webhookId, delivery, classified);
    } catch (cause) {
      // The lease expires, and then the delivery is sent again.
      logFault(cause, { webhookId }, "A delivery attempt failed because of a fault of the node");
    } finally {
      slot.release(clock.nowMs());
      pump();
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
      const settled = storeSettlement({ delivery: { seq, leaseEndsAtMs }, ...classified });
      // Only after the settlement was submitted, so that the next claim sees a wait that the receiver requested.
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

  function schedulePoll(delayMs = settings.pollIntervalMs): void {
    if (isStopping) return;
    cancelPoll = setTimer(delayMs, () => {
      const polled = pollQueue().then(
        (isMore) => schedulePoll(isMore ? continuePollMs : undefined),
        (cause) => {
          logPollFault(cause);
          schedulePoll(retryPollMs);
        },
      );
      track(polled);
    });
  }

  function logPollFault(cause: unknown): void {
    logFault(cause, {}, "The delivery queue could not be polled");
  }

  try {
    schedulePoll((await pollQueue()) ? continuePollMs : undefined);
  } catch (cause) {
    if (!(cause instanceof StateUnavailable)) throw cause;
    logPollFault(cause);
    schedulePoll(retryPollMs);
  }

  function wake(webhookIds: readonly string[]): void {
    const nowMs = clock.nowMs();
    for (const webhookId of webhookIds) scheduler.wake(webhookId, nowMs, nowMs);
    pump();
  }

  return {
    wake,

    changed(webhookId) {
      claims.outdate(webhookId);
      wake([webhookId]);
    },

    stats: () => scheduler.stats(clock.nowMs()),

    async stop(graceMs) {
      isStopping = true;
      stopping.abort();
      timer?.cancel();
      cancelPoll?.();
      for (const end of sleeping) end();
      claims.stop();
      const cancelAbort = setTimer(graceMs, () => aborter.abort(new Error("the process is shutting down")));
      while (running.size > 0) await Promise.all(running);
      cancelAbort();
    },
  };
}
