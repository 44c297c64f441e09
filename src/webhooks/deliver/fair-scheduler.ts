import { MinHeap } from "../../lib/min-heap.ts";

/** How calls are shared out. */
export interface SchedulerLimits {
  /** Calls in flight in all. */
  readonly total: number;
  readonly perWebhook: number;
}

/**
 * What the last call to a webhook told: `slow` ones hold a slot for long, and whether it ended well does not matter for
 * that. Of a `new` one nothing is known.
 */
type Pace = "new" | "quick" | "slow";

const PACES = ["quick", "new", "slow"] as const satisfies readonly Pace[];

/** A call that takes longer than this is slow. */
const SLOW_CALL_MS = 2_000;
/** Slow webhooks together hold at most this part of the slots, and those that are not known to be quick at most that one. */
const SLOW_SHARE = 1 / 4;
const UNPROVEN_SHARE = 3 / 4;
/** Idle webhooks of which the pace is kept in mind. */
const MAX_KNOWN_LANES = 20_000;

interface Lane {
  readonly webhookId: string;
  /** When a claim may bring something; null where nothing is known to be queued. */
  dueAtMs: number | null;
  /** The one that counts of its entries in the heap. */
  alarmAtMs: number | null;
  inFlight: number;
  isClaiming: boolean;
  /** `parked`: it is its turn, but it holds as many slots as are free. */
  place: "none" | "in-line" | "parked";
  pace: Pace;
  quickCalls: number;
}

/** The right to make one call to a webhook. */
export interface SchedulerSlot {
  readonly webhookId: string;
  /** What the claim brought: null where nothing is left that is known of. */
  claimed(nextAtMs: number | null, nowMs: number): void;
  /** Gives the slot back; without a duration where no call was made. */
  release(nowMs: number, callMs?: number): void;
}

export interface SchedulerStats {
  readonly inFlight: number;
  /** Webhooks that wait for a slot. */
  readonly waiting: number;
  /** How long the one that has waited longest has something due, ms. */
  readonly oldestDueMs: number;
  readonly slowWebhooks: number;
}

/**
 * Shares the calls in flight between webhooks, so that none waits because another is slow. Whose turn came first gets the
 * next slot; a webhook begins with one call at a time and gets more while it answers quickly, but never so many that no
 * slot is left for others; those that were slow last time share a small part of the slots, and a part is kept for those
 * that are known to be quick. Times are unix milliseconds.
 */
export class FairScheduler {
  readonly #limits: SchedulerLimits;
  readonly #lanes = new Map<string, Lane>();
  readonly #alarms = new MinHeap<Lane>();
  /** Lanes that may have a slot, by their turn. */
  readonly #lines: Readonly<Record<Pace, MinHeap<Lane>>> = {
    quick: new MinHeap(),
    new: new MinHeap(),
    slow: new MinHeap(),
  };
  #parked: Lane[] = [];
  /** Slots by the pace that their lanes had when they took them. */
  readonly #held: Record<Pace, number> = { quick: 0, new: 0, slow: 0 };
  #nextTurn = 0;

  constructor(limits: SchedulerLimits) {
    this.#limits = limits;
  }

  /**
   * Tells that a claim for the webhook brings something from then on.
   *
   * @param isFailing what an earlier process knew; where no call was made since, it is taken for slow.
   */
  wake(webhookId: string, atMs: number, nowMs: number, isFailing = false): void {
    const lane = this.#laneOf(webhookId);
    if (isFailing && lane.pace === "new") lane.pace = "slow";
    if (lane.dueAtMs === null || atMs < lane.dueAtMs) lane.dueAtMs = atMs;
    this.#settle(lane, nowMs);
  }

  /** Takes the next slot, if there is one and somebody may have it. */
  take(nowMs: number): SchedulerSlot | undefined {
    this.#ring(nowMs);
    for (;;) {
      const free = this.#limits.total - this.#inFlight;
      const pace = free > 0 ? this.#nextPace() : undefined;
      const lane = pace && this.#lines[pace].pop()?.value;
      if (!lane) return undefined;
      lane.place = "none";
      // It may have become slow since it got in line.
      if (lane.pace !== pace || lane.inFlight >= this.#allowanceOf(lane)) this.#settle(lane, nowMs);
      else if (lane.inFlight === 0 || lane.inFlight < free) return this.#slotOf(lane);
      else this.#park(lane);
    }
  }

  /** When `take` may have something without being told; undefined where only `wake` and slots that come back do. */
  nextAlarmMs(): number | undefined {
    for (let next = this.#alarms.peek(); next; next = this.#alarms.peek()) {
      if (next.value.alarmAtMs === next.key) return next.key;
      this.#alarms.pop();
    }
    return undefined;
  }

  stats(nowMs: number): SchedulerStats {
    let oldestDueMs = 0;
    let slowWebhooks = 0;
    for (const { dueAtMs, pace } of this.#lanes.values()) {
      if (dueAtMs !== null) oldestDueMs = Math.max(oldestDueMs, nowMs - dueAtMs);
      if (pace === "slow") slowWebhooks += 1;
    }
    const waiting = PACES.reduce((sum, pace) => sum + this.#lines[pace].size, this.#parked.length);
    return { inFlight: this.#inFlight, waiting, oldestDueMs, slowWebhooks };
  }

  get #inFlight(): number {
    return this.#held.quick + this.#held.new + this.#held.slow;
  }

  #laneOf(webhookId: string): Lane {
    let lane = this.#lanes.get(webhookId);
    if (!lane) {
      lane = {
        webhookId,
        dueAtMs: null,
        alarmAtMs: null,
        inFlight: 0,
        isClaiming: false,
        place: "none",
        pace: "new",
        quickCalls: 0,
      };
      this.#lanes.set(webhookId, lane);
    }
    return lane;
  }

  /** The lanes whose time has come get in line. */
  #ring(nowMs: number): void {
    for (let next = this.#alarms.peek(); next && next.key <= nowMs; next = this.#alarms.peek()) {
      this.#alarms.pop();
      if (next.value.alarmAtMs !== next.key) continue;
      next.value.alarmAtMs = null;
      this.#settle(next.value, nowMs);
    }
  }

  /** Puts a lane where it belongs after anything about it has changed. */
  #settle(lane: Lane, nowMs: number): void {
    const { dueAtMs } = lane;
    if (dueAtMs === null) {
      lane.alarmAtMs = null;
      if (lane.inFlight === 0 && this.#lanes.size > MAX_KNOWN_LANES) this.#lanes.delete(lane.webhookId);
    } else if (dueAtMs > nowMs) {
      if (lane.alarmAtMs === dueAtMs) return;
      lane.alarmAtMs = dueAtMs;
      this.#alarms.push(dueAtMs, lane);
    } else if (lane.place === "none" && !lane.isClaiming && lane.inFlight < this.#allowanceOf(lane)) {
      lane.alarmAtMs = null;
      lane.place = "in-line";
      this.#lines[lane.pace].push(this.#nextTurn++, lane);
    }
  }

  #park(lane: Lane): void {
    lane.place = "parked";
    this.#parked.push(lane);
  }

  #unparkAll(nowMs: number): void {
    for (const lane of this.#parked.splice(0)) {
      lane.place = "none";
      this.#settle(lane, nowMs);
    }
  }

  #allowanceOf({ pace, quickCalls }: Lane): number {
    return pace === "quick" ? Math.min(this.#limits.perWebhook, 1 + quickCalls) : 1;
  }

  /** The pace whose first in line is next. */
  #nextPace(): Pace | undefined {
    const share = (part: number) => Math.max(Math.floor(this.#limits.total * part), 1);
    const isUnprovenFull = this.#held.new + this.#held.slow >= share(UNPROVEN_SHARE);
    const isSlowFull = isUnprovenFull || this.#held.slow >= share(SLOW_SHARE);
    const isFull = { quick: false, new: isUnprovenFull, slow: isSlowFull };
    const turnOf = (pace: Pace) => this.#lines[pace].peek()?.key ?? Number.POSITIVE_INFINITY;
    const open = PACES.filter((pace) => !isFull[pace] && this.#lines[pace].size > 0);
    return open.sort((a, b) => turnOf(a) - turnOf(b))[0];
  }

  #slotOf(lane: Lane): SchedulerSlot {
    const heldAs = lane.pace;
    this.#held[heldAs] += 1;
    lane.inFlight += 1;
    lane.isClaiming = true;
    // Until the claim tells, nothing more is known to be due.
    lane.dueAtMs = null;
    let isHeld = true;
    return {
      webhookId: lane.webhookId,
      claimed: (nextAtMs, nowMs) => {
        lane.isClaiming = false;
        if (nextAtMs !== null && (lane.dueAtMs === null || nextAtMs < lane.dueAtMs)) lane.dueAtMs = nextAtMs;
        this.#settle(lane, nowMs);
      },
      release: (nowMs, callMs) => {
        if (!isHeld) return;
        isHeld = false;
        this.#held[heldAs] -= 1;
        lane.inFlight -= 1;
        lane.isClaiming = false;
        if (callMs !== undefined) this.#learn(lane, callMs);
        this.#unparkAll(nowMs);
        this.#settle(lane, nowMs);
      },
    };
  }

  #learn(lane: Lane, callMs: number): void {
    const isQuick = callMs < SLOW_CALL_MS;
    lane.quickCalls = isQuick ? lane.quickCalls + 1 : 0;
    lane.pace = isQuick ? "quick" : "slow";
  }
}
