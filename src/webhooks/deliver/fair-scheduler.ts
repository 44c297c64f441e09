import TinyQueue from "tinyqueue";

/** Limits of calls in flight. */
export interface SchedulerLimits {
  /** For all webhooks together. */
  readonly total: number;
  readonly perWebhook: number;
  /** A claim takes as many deliveries as the webhook's calls are expected to finish within this time. */
  readonly claimAheadMs: number;
}

/** Speed of a webhook's last call, successful or not; `new` before the first call. */
type Speed = "new" | "quick" | "slow";

const SPEEDS = ["quick", "new", "slow"] as const satisfies readonly Speed[];

/** A call that takes at least this long is slow. */
const SLOW_CALL_MS = 2_000;
/** Slow webhooks together have at most the first share of the slots; slow and new ones together at most the second. */
const SLOW_SHARE = 1 / 4;
const UNPROVEN_SHARE = 3 / 4;
/** Maximum number of deliveries in one claim. */
const MAX_CLAIM = 32;
/** Maximum number of webhooks in memory; beyond it, idle ones are removed. */
const MAX_KNOWN_WEBHOOKS = 20_000;

interface WebhookQueue {
  readonly webhookId: string;
  /** When the next delivery is due; null if unknown. */
  dueAtMs: number | null;
  /** The webhook's current entry in the heap; others are stale. */
  timerAtMs: number | null;
  inFlight: number;
  isClaiming: boolean;
  /** `parked`: at its turn, it already had at least as many slots as are free. */
  position: "none" | "waiting" | "parked";
  speed: Speed;
  quickCalls: number;
  /** Consecutive successful calls. */
  successes: number;
  lastCallMs: number;
}

/** How a call ended. */
export interface EndedCall {
  readonly durationMs: number;
  readonly isDelivered: boolean;
}

/** Permission for one call to a webhook. */
export interface SchedulerSlot {
  readonly webhookId: string;
  /** How many deliveries to claim at once: 1 until calls succeed, then as many as the webhook receives quickly. */
  readonly claimLimit: number;
  /** Reports when the next delivery is due after the claim; null if there is none. */
  claimed(nextAtMs: number | null, nowMs: number): void;
  /** Releases the slot; `call` is undefined if no call was made. */
  release(nowMs: number, call?: EndedCall): void;
}

export interface SchedulerStats {
  readonly inFlight: number;
  /** Webhooks waiting for a slot. */
  readonly waiting: number;
  /** Age of the oldest due delivery in ms. */
  readonly oldestDueMs: number;
  readonly slowWebhooks: number;
}

/** A webhook in a priority queue. `key` is its due time or its arrival number. */
interface QueueEntry {
  readonly key: number;
  readonly value: WebhookQueue;
}

function queueByKey(): TinyQueue<QueueEntry> {
  return new TinyQueue<QueueEntry>([], (a, b) => a.key - b.key);
}

/**
 * Shares call slots between webhooks, so that a slow webhook does not delay others. Slots are assigned in order of arrival. A webhook
 * starts with one call at a time and gets more while it responds quickly, but always fewer than there are free slots. Webhooks whose last
 * call was slow share a small part of the slots, and a part is reserved for quick ones. Times are unix milliseconds.
 *
 * A call costs 0.5 to 1.4 us here with 4 to 10,000 webhooks. The slots of push (`src/push/fan-out/slots.ts`) have only the name in
 * common: push requests wait in memory, by campaign and then by host, and a circuit breaker gives up on a host. Deliveries are due at
 * stored times, and the store deactivates a webhook that fails.
 */
export class FairScheduler {
  readonly #limits: SchedulerLimits;
  readonly #webhooks = new Map<string, WebhookQueue>();
  readonly #timers = queueByKey();
  /** Webhooks waiting for a slot, in order of arrival. */
  readonly #waiting: Readonly<Record<Speed, TinyQueue<QueueEntry>>> = {
    quick: queueByKey(),
    new: queueByKey(),
    slow: queueByKey(),
  };
  #parked: WebhookQueue[] = [];
  /** Slots in use, by the speed of their webhooks when they were assigned. */
  readonly #inUse: Record<Speed, number> = { quick: 0, new: 0, slow: 0 };
  #nextArrival = 0;

  constructor(limits: SchedulerLimits) {
    this.#limits = limits;
  }

  /**
   * Schedules a webhook that has a delivery due at `atMs`.
   *
   * @param isFailing whether its last stored attempt failed: then it counts as slow until its first call.
   */
  wake(webhookId: string, atMs: number, nowMs: number, isFailing = false): void {
    const queue = this.#queueOf(webhookId);
    if (isFailing && queue.speed === "new") queue.speed = "slow";
    if (queue.dueAtMs === null || atMs < queue.dueAtMs) queue.dueAtMs = atMs;
    this.#update(queue, nowMs);
  }

  /** Assigns a free slot to the next webhook; undefined if there is no slot or no webhook may have it. */
  acquire(nowMs: number): SchedulerSlot | undefined {
    this.#queueDue(nowMs);
    for (;;) {
      const free = this.#limits.total - this.#inFlight;
      const speed = free > 0 ? this.#nextSpeed() : undefined;
      const queue = speed && this.#waiting[speed].pop()?.value;
      if (!queue) return undefined;
      queue.position = "none";
      // The webhook may have become slow while it waited.
      if (queue.speed !== speed || queue.inFlight >= this.#concurrencyLimitOf(queue))
        this.#update(queue, nowMs);
      else if (queue.inFlight === 0 || queue.inFlight < free) return this.#slotOf(queue);
      else this.#park(queue);
    }
  }

  /** Returns when the next webhook becomes due; undefined if only `wake` or a released slot can change anything. */
  nextDueMs(): number | undefined {
    for (let next = this.#timers.peek(); next; next = this.#timers.peek()) {
      if (next.value.timerAtMs === next.key) return next.key;
      this.#timers.pop();
    }
    return undefined;
  }

  stats(nowMs: number): SchedulerStats {
    let oldestDueMs = 0;
    let slowWebhooks = 0;
    for (const { dueAtMs, speed } of this.#webhooks.values()) {
      if (dueAtMs !== null) oldestDueMs = Math.max(oldestDueMs, nowMs - dueAtMs);
      if (speed === "slow") slowWebhooks += 1;
    }
    const waiting = SPEEDS.reduce((sum, speed) => sum + this.#waiting[speed].length, this.#parked.length);
    return { inFlight: this.#inFlight, waiting, oldestDueMs, slowWebhooks };
  }

  get #inFlight(): number {
    return this.#inUse.quick + this.#inUse.new + this.#inUse.slow;
  }

  #queueOf(webhookId: string): WebhookQueue {
    let queue = this.#webhooks.get(webhookId);
    if (!queue) {
      queue = {
        webhookId,
        dueAtMs: null,
        timerAtMs: null,
        inFlight: 0,
        isClaiming: false,
        position: "none",
        speed: "new",
        quickCalls: 0,
        successes: 0,
        lastCallMs: 0,
      };
      this.#webhooks.set(webhookId, queue);
    }
    return queue;
  }

  /** Moves webhooks that have become due to the queues. */
  #queueDue(nowMs: number): void {
    for (let next = this.#timers.peek(); next && next.key <= nowMs; next = this.#timers.peek()) {
      this.#timers.pop();
      if (next.value.timerAtMs !== next.key) continue;
      next.value.timerAtMs = null;
      this.#update(next.value, nowMs);
    }
  }

  /** Moves a webhook to the right position after a change of its state. */
  #update(queue: WebhookQueue, nowMs: number): void {
    const { dueAtMs } = queue;
    if (dueAtMs === null) {
      queue.timerAtMs = null;
      if (queue.inFlight === 0 && this.#webhooks.size > MAX_KNOWN_WEBHOOKS)
        this.#webhooks.delete(queue.webhookId);
    } else if (dueAtMs > nowMs) {
      if (queue.timerAtMs === dueAtMs) return;
      queue.timerAtMs = dueAtMs;
      this.#timers.push({ key: dueAtMs, value: queue });
    } else if (
      queue.position === "none" &&
      !queue.isClaiming &&
      queue.inFlight < this.#concurrencyLimitOf(queue)
    ) {
      queue.timerAtMs = null;
      queue.position = "waiting";
      this.#waiting[queue.speed].push({ key: this.#nextArrival++, value: queue });
    }
  }

  #park(queue: WebhookQueue): void {
    queue.position = "parked";
    this.#parked.push(queue);
  }

  #unparkAll(nowMs: number): void {
    for (const queue of this.#parked.splice(0)) {
      queue.position = "none";
      this.#update(queue, nowMs);
    }
  }

  #concurrencyLimitOf({ speed, quickCalls }: WebhookQueue): number {
    return speed === "quick" ? Math.min(this.#limits.perWebhook, 1 + quickCalls) : 1;
  }

  /** Returns the queue whose first webhook arrived first, among those below their share. */
  #nextSpeed(): Speed | undefined {
    const share = (part: number) => Math.max(Math.floor(this.#limits.total * part), 1);
    const isUnprovenFull = this.#inUse.new + this.#inUse.slow >= share(UNPROVEN_SHARE);
    const isSlowFull = isUnprovenFull || this.#inUse.slow >= share(SLOW_SHARE);
    const isFull = { quick: false, new: isUnprovenFull, slow: isSlowFull };
    const arrivalOf = (speed: Speed) => this.#waiting[speed].peek()?.key ?? Number.POSITIVE_INFINITY;
    const open = SPEEDS.filter((speed) => !isFull[speed] && this.#waiting[speed].length > 0);
    return open.sort((a, b) => arrivalOf(a) - arrivalOf(b))[0];
  }

  #slotOf(queue: WebhookQueue): SchedulerSlot {
    const countedAs = queue.speed;
    this.#inUse[countedAs] += 1;
    queue.inFlight += 1;
    queue.isClaiming = true;
    // Unknown until the claim reports it.
    queue.dueAtMs = null;
    let isInUse = true;
    return {
      webhookId: queue.webhookId,
      claimLimit: this.#claimLimitOf(queue),
      claimed: (nextAtMs, nowMs) => {
        queue.isClaiming = false;
        if (nextAtMs !== null && (queue.dueAtMs === null || nextAtMs < queue.dueAtMs))
          queue.dueAtMs = nextAtMs;
        this.#update(queue, nowMs);
      },
      release: (nowMs, call) => {
        if (!isInUse) return;
        isInUse = false;
        this.#inUse[countedAs] -= 1;
        queue.inFlight -= 1;
        queue.isClaiming = false;
        if (call) this.#recordCall(queue, call);
        this.#unparkAll(nowMs);
        this.#update(queue, nowMs);
      },
    };
  }

  #claimLimitOf({ speed, successes, lastCallMs }: WebhookQueue): number {
    if (speed !== "quick") return 1;
    const ended = Math.floor((this.#limits.perWebhook * this.#limits.claimAheadMs) / Math.max(lastCallMs, 1));
    return Math.max(Math.min(successes, ended, MAX_CLAIM), 1);
  }

  #recordCall(queue: WebhookQueue, { durationMs, isDelivered }: EndedCall): void {
    const isQuick = durationMs < SLOW_CALL_MS;
    queue.lastCallMs = durationMs;
    queue.successes = isDelivered ? queue.successes + 1 : 0;
    queue.quickCalls = isQuick ? queue.quickCalls + 1 : 0;
    queue.speed = isQuick ? "quick" : "slow";
  }
}
