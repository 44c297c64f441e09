import { type CallOutcome, CircuitBreaker, type CircuitBreakerSettings } from "./circuit-breaker.ts";

/** The right to make one call. */
export interface Slot {
  /** Gives it back with what the call told of the host; only the first call counts. */
  release(sign: CallOutcome, waitMs?: number): void;
}

export interface SlotRequest {
  readonly campaign: string;
  readonly host: string;
  /** Gives the request up: it rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

interface Waiter extends SlotRequest {
  readonly since: number;
  readonly grant: (slot: Slot | "given-up") => void;
}

/**
 * One campaign, or one host, may hold at most this many times the slots that are free. The more there are, the less each
 * of them holds, and there is always a free one for the next.
 */
const HELD_PER_FREE = 4;

/** Hosts come from clients, so what is kept of them is bounded. */
const MAX_KNOWN_HOSTS = 10_000;

/** The calls that this process may have in flight, shared out fairly. */
export interface Slots {
  /** Waits for a slot. `given-up`: the host is down, and has been for so long that nobody should wait for it. */
  acquire(request: SlotRequest): Promise<Slot | "given-up">;
  stats(): SlotStats;
}

export interface SlotStats {
  readonly inFlight: number;
  readonly waiting: number;
  /** How long the first of those that wait has waited. */
  readonly oldestWaitMs: number;
  readonly hostsDown: number;
}

/**
 * Shares `total` slots between campaigns and, within them, between client hosts: the next free one goes to the campaign
 * that holds the fewest, there to the host that holds the fewest, there to who asked first.
 */
export function createSlots(options: {
  readonly total: number;
  readonly pacing: CircuitBreakerSettings;
}): Slots {
  const { total, pacing } = options;
  const hosts = new Map<string, CircuitBreaker>();
  const heldBy = new Map<string, number>();
  let waiters: Waiter[] = [];
  let inFlight = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function healthOf(host: string): CircuitBreaker {
    let health = hosts.get(host);
    if (!health) {
      if (hosts.size >= MAX_KNOWN_HOSTS) forgetIdleHosts();
      health = new CircuitBreaker(pacing);
      hosts.set(host, health);
    }
    return health;
  }

  function forgetIdleHosts(): void {
    const wanted = new Set(waiters.map(({ host }) => host));
    for (const [host, health] of hosts) if (health.isIdle && !wanted.has(host)) hosts.delete(host);
  }

  function mayHoldMore(held: number): boolean {
    return held < HELD_PER_FREE * (total - inFlight);
  }

  /** Who gets the next slot, if anybody may have one. */
  function choose(nowMs: number): { waiter: Waiter; isProbe: boolean } | undefined {
    let best: { waiter: Waiter; isProbe: boolean; held: number; hostHeld: number } | undefined;
    for (const waiter of waiters) {
      const held = heldBy.get(waiter.campaign) ?? 0;
      const health = healthOf(waiter.host);
      const hostHeld = health.inFlight;
      if (best && (held > best.held || (held === best.held && hostHeld >= best.hostHeld))) continue;
      if (!mayHoldMore(held) || !mayHoldMore(hostHeld)) continue;
      const admission = health.admission(nowMs);
      if (admission === "free" || admission === "probe") {
        best = { waiter, isProbe: admission === "probe", held, hostHeld };
      }
    }
    return best;
  }

  function handOut(): void {
    const nowMs = performance.now();
    while (inFlight < total) {
      const next = choose(nowMs);
      if (!next) break;
      waiters.splice(waiters.indexOf(next.waiter), 1);
      next.waiter.grant(take(next.waiter, next.isProbe));
    }
    dismissGivenUp(nowMs);
    wakeUpLater(nowMs);
  }

  function dismissGivenUp(nowMs: number): void {
    const dismissed = waiters.filter(({ host }) => healthOf(host).admission(nowMs) === "given-up");
    if (dismissed.length === 0) return;
    const gone = new Set(dismissed);
    waiters = waiters.filter((waiter) => !gone.has(waiter));
    for (const waiter of dismissed) waiter.grant("given-up");
  }

  /** Time changes what hosts may be called; nothing else tells of it. */
  function wakeUpLater(nowMs: number): void {
    clearTimeout(timer);
    let next = Number.POSITIVE_INFINITY;
    for (const { host } of waiters) next = Math.min(next, healthOf(host).nextChangeAt(nowMs));
    if (Number.isFinite(next)) timer = setTimeout(handOut, Math.ceil(next - nowMs));
  }

  function take({ campaign, host }: SlotRequest, isProbe: boolean): Slot {
    const health = healthOf(host);
    health.begin(performance.now());
    inFlight += 1;
    heldBy.set(campaign, (heldBy.get(campaign) ?? 0) + 1);
    let isHeld = true;
    return {
      release(sign, waitMs = 0) {
        if (!isHeld) return;
        isHeld = false;
        inFlight -= 1;
        const left = (heldBy.get(campaign) ?? 1) - 1;
        if (left === 0) heldBy.delete(campaign);
        else heldBy.set(campaign, left);
        health.end({ isProbe, sign, waitMs }, performance.now());
        handOut();
      },
    };
  }

  return {
    acquire(request) {
      const { signal } = request;
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const cancel = () => {
          waiters = waiters.filter((other) => other !== waiter);
          reject(signal.reason);
        };
        const waiter: Waiter = {
          ...request,
          since: performance.now(),
          grant(outcome) {
            signal.removeEventListener("abort", cancel);
            resolve(outcome);
          },
        };
        signal.addEventListener("abort", cancel, { once: true });
        waiters.push(waiter);
        handOut();
      });
    },

    stats() {
      const nowMs = performance.now();
      const oldest = waiters[0]?.since ?? nowMs;
      let hostsDown = 0;
      for (const health of hosts.values()) if (health.isDown) hostsDown += 1;
      return { inFlight, waiting: waiters.length, oldestWaitMs: nowMs - oldest, hostsDown };
    },
  };
}
