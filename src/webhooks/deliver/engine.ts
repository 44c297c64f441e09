import { StateUnavailable } from "../../db/state/unavailable.ts";
import { createFaultLog } from "../../db/state/unavailable-log.ts";
import { OutboundError } from "../../net/client.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { SetTimer } from "../../runtime/set-timer.ts";
import type {
  CallLimit,
  ClaimedDelivery,
  DeliveryQueue,
  FailureRule,
  Settlement,
} from "../store/deliveries.ts";
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

/** Outcomes that wait to be recorded; beyond that, no further call begins. */
const MAX_UNRECORDED = 256;
/** How soon a settlement is tried again that could not be stored. */
const SETTLE_AGAIN_MS = 250;
/** Webhooks that are read at a time when the queue is looked through. */
const LANES_PER_LOOK = 500;

export interface EngineSettings {
  readonly lanes: SchedulerLimits;
  readonly limit: CallLimit;
  readonly retries: RetryPolicy;
  readonly failures: FailureRule;
  /** The longest wait before another attempt, whoever asks for it, and longer than a lease. */
  readonly longestWaitMs: number;
  /** Longer than any call takes, so that nobody takes up what is under way. */
  readonly leaseMs: number;
  /** How often the queue is looked through for what nobody told of. */
  readonly pollIntervalMs: number;
  /** How long a webhook rests after a fault of ours, such as a full disk. */
  readonly errorBackoffMs: number;
}

export interface EngineParts {
  readonly queue: DeliveryQueue;
  readonly call: CallReceiver;
  readonly stats: DeliveryCounters;
  readonly clock: Clock;
  readonly after: SetTimer;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly log: Logger;
  readonly settings: EngineSettings;
}

/** Carries deliveries out. */
export interface DeliveryEngine {
  /** Tells that something was queued for these webhooks, or that they are active again. */
  wake(webhookIds: readonly string[]): void;
  figures(): SchedulerStats;
  /** Begins nothing new, gives calls under way `graceMs`, then gives them up; they go on after the next start. */
  stop(graceMs: number): Promise<void>;
}

/**
 * Starts to deliver what is queued, that first which an earlier process had under way.
 *
 * Each delivery is claimed, called and settled: the claim reads the webhook and its secrets as they stand and lasts for a
 * lease, and only the settlement ends it. Whatever happens between the two, the delivery is tried again.
 */
export async function startDeliveryEngine(parts: EngineParts): Promise<DeliveryEngine> {
  const { queue, call, stats, clock, after, random, log, settings } = parts;
  const lanes = new FairScheduler(settings.lanes);
  const cut = new AbortController();
  const underWay = new Set<Promise<void>>();
  let unrecorded = 0;
  let isStopping = false;
  let alarm: { readonly atMs: number; readonly cancel: () => void } | undefined;
  let cancelLook: (() => void) | undefined;
  const logFault = createFaultLog({ log, clock });
  /** End the pauses that are under way. */
  const pausing = new Set<() => void>();

  /** Begins as many calls as may begin, and comes back when time alone lets another one begin. */
  function pump(): void {
    if (isStopping) return;
    while (unrecorded < MAX_UNRECORDED) {
      const slot = lanes.take(clock.nowMs());
      if (!slot) break;
      track(attempt(slot));
    }
    const atMs = lanes.nextAlarmMs();
    if (atMs === alarm?.atMs) return;
    alarm?.cancel();
    alarm = atMs === undefined ? undefined : { atMs, cancel: after(waitUntil(atMs), ring) };
  }

  function ring(): void {
    alarm = undefined;
    pump();
  }

  /** Timers hold no more than 31 bits of milliseconds; an alarm that rings early is set again. */
  function waitUntil(atMs: number): number {
    return Math.min(Math.max(atMs - clock.nowMs(), 1), settings.pollIntervalMs);
  }

  function track(work: Promise<void>): void {
    const tracked = work.finally(() => underWay.delete(tracked));
    underWay.add(tracked);
  }

  function pause(ms: number): Promise<void> {
    if (isStopping) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = after(ms, () => end());
      const end = () => {
        cancel();
        pausing.delete(end);
        resolve();
      };
      pausing.add(end);
    });
  }

  async function attempt(slot: SchedulerSlot): Promise<void> {
    const delivery = await claim(slot);
    if (!delivery) {
      slot.release(clock.nowMs());
      return pump();
    }
    // The webhook may have more that is due, and be let have it.
    pump();
    const startedAtMs = clock.nowMs();
    try {
      const outcome = await call(delivery, cut.signal);
      slot.release(clock.nowMs(), outcome.durationMs);
      if (outcome instanceof OutboundError && outcome.kind === "cancelled") {
        return await queue.release(delivery, clock.nowMs());
      }
      const attempted = { attempt: delivery.attempts + 1, startedAtMs, random: random() };
      await settle(
        slot.webhookId,
        delivery,
        classifyOutcome(outcome, { ...attempted, policy: settings.retries }),
      );
    } catch (cause) {
      // Its lease ends by itself, and then it is tried again.
      logFault(cause, { webhookId: slot.webhookId }, "A delivery could not go on");
    } finally {
      slot.release(clock.nowMs());
      pump();
    }
  }

  /** The webhook's next delivery; undefined when there is none to be had now. */
  async function claim(slot: SchedulerSlot): Promise<ClaimedDelivery | undefined> {
    const { webhookId } = slot;
    const nowMs = clock.nowMs();
    try {
      const leaseEndsAtMs = nowMs + settings.leaseMs;
      const { limit, longestWaitMs } = settings;
      const claimed = await queue.claim({ webhookId, nowMs, leaseEndsAtMs, longestWaitMs, limit });
      slot.claimed(claimed?.nextAtMs ?? null, clock.nowMs());
      if (claimed === undefined) return undefined;
      if (claimed.dropped > 0) {
        stats.countDropped(claimed.dropped);
        log.warn({ webhookId, dropped: claimed.dropped }, "Gave up deliveries that had waited too long");
      }
      return claimed.delivery;
    } catch (cause) {
      logFault(cause, { webhookId }, "The next delivery could not be claimed");
      slot.claimed(nowMs + settings.errorBackoffMs, nowMs);
      return undefined;
    }
  }

  async function settle(
    webhookId: string,
    delivery: ClaimedDelivery,
    judged: ReturnType<typeof classifyOutcome>,
  ): Promise<void> {
    stats.countAttempt(judged);
    unrecorded += 1;
    try {
      const settled = settleOnce({ delivery, ...judged });
      // Behind the settlement, so that the next claim knows of what the receiver asked for.
      pump();
      const reason = await settled;
      if (reason !== undefined) {
        stats.countDeactivated();
        log.warn({ webhookId, reason }, "Deactivated a webhook");
      }
      if (judged.verdict.kind === "retry") lanes.wake(webhookId, judged.verdict.dueAtMs, clock.nowMs());
    } finally {
      unrecorded -= 1;
    }
  }

  /**
   * Settles within the lease, however often the state is unavailable: the call has been made, and would be made again. A
   * settlement that is repeated changes nothing, because the first one has ended the lease.
   */
  async function settleOnce(settlement: Settlement): Promise<string | undefined> {
    for (;;) {
      try {
        return await queue.settle(settlement, settings.failures);
      } catch (cause) {
        const mayGoOn = !isStopping && clock.nowMs() < settlement.delivery.leaseEndsAtMs;
        if (!(cause instanceof StateUnavailable) || !mayGoOn) throw cause;
        logFault(cause, {}, "A delivery could not be settled");
        await pause(SETTLE_AGAIN_MS);
      }
    }
  }

  /** Takes up what an earlier process had under way; false while the state is unavailable. */
  async function recover(): Promise<boolean> {
    try {
      const recovered = await queue.recover(clock.nowMs());
      if (recovered > 0) log.info({ deliveries: recovered }, "Took up deliveries that were under way");
      return true;
    } catch (cause) {
      if (!(cause instanceof StateUnavailable)) throw cause;
      logFault(cause, {}, "Deliveries that were under way could not be taken up");
      return false;
    }
  }

  /** Finds what is queued without anybody having told of it: at the start, and after faults. */
  async function look(): Promise<void> {
    let position: number | undefined = 0;
    while (position !== undefined && !isStopping) {
      const found = await queue.lanes(position, LANES_PER_LOOK);
      for (const { webhookId, dueAtMs, isFailing } of found.lanes) {
        const nowMs = clock.nowMs();
        // Scheduled farther ahead than anything is, before the clock went back: a claim brings it.
        const atMs = dueAtMs > nowMs + settings.longestWaitMs ? nowMs : dueAtMs;
        lanes.wake(webhookId, atMs, nowMs, isFailing);
      }
      position = found.last;
      pump();
    }
  }

  function lookLater(): void {
    cancelLook = after(settings.pollIntervalMs, () => {
      track(
        look()
          .catch((cause) => logFault(cause, {}, "The queue of deliveries could not be looked through"))
          .finally(() => {
            if (!isStopping) lookLater();
          }),
      );
    });
  }

  // Not before what was under way is due again, or it would wait for the end of its leases.
  async function begin(): Promise<void> {
    await look();
    if (!isStopping) lookLater();
  }

  if (await recover()) await begin();
  else {
    const beginLater = async () => {
      do await pause(settings.errorBackoffMs);
      while (!isStopping && !(await recover()));
      if (!isStopping) await begin();
    };
    track(beginLater().catch((cause) => log.error({ err: cause }, "Deliveries could not be taken up")));
  }

  return {
    wake(webhookIds) {
      const nowMs = clock.nowMs();
      for (const webhookId of webhookIds) lanes.wake(webhookId, nowMs, nowMs);
      pump();
    },

    figures: () => lanes.stats(clock.nowMs()),

    async stop(graceMs) {
      isStopping = true;
      alarm?.cancel();
      cancelLook?.();
      for (const end of pausing) end();
      const cancelCut = after(graceMs, () => cut.abort(new Error("the process is shutting down")));
      while (underWay.size > 0) await Promise.all(underWay);
      cancelCut();
    },
  };
}
