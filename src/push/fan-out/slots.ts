import { setTimeout as sleep } from "node:timers/promises";
import { CircuitBreaker, type CircuitBreakerSettings, type HostStatus } from "./circuit-breaker.ts";

/**
 * Whether this node may begin calls now:
 * - `paused`: an operator has paused sends on all nodes;
 * - `isolated`: other nodes may believe that this node has ended, because it has not reached the state for a while;
 * - `unfilled`: its index has not been filled yet, so it does not know who belongs to an audience.
 */
export type SendPermission = "granted" | "paused" | "isolated" | "unfilled";

const POLL_MS = 200;

/** Resolves when the permission is granted. @throws the signal's reason */
export async function untilGranted(permission: () => SendPermission, signal: AbortSignal): Promise<void> {
  while (permission() !== "granted") await sleep(POLL_MS, undefined, { signal });
}

/** A request that waits for a slot. */
interface WaitingRequest {
  readonly campaign: string;
  readonly host: string;
  /** Reading of a monotonic clock, ms. */
  readonly since: number;
}

/** Requests in the order of arrival, with their arrival numbers over all queues. */
type Queue<Request> = Map<Request, number>;

/**
 * Waiting requests by host and campaign. Requests of one campaign to one host differ only in their order, so the cost of choosing one
 * depends on the number of hosts and campaigns, not on that of requests.
 */
class WaitingRequests<Request extends WaitingRequest> {
  readonly #hosts = new Map<string, Map<string, Queue<Request>>>();
  #size = 0;
  #arrivals = 0;

  get size(): number {
    return this.#size;
  }

  /** Hosts with waiting requests. */
  hosts(): Iterable<string> {
    return this.#hosts.keys();
  }

  isWaitingFor(host: string): boolean {
    return this.#hosts.has(host);
  }

  add(request: Request): void {
    const { host, campaign } = request;
    let campaigns = this.#hosts.get(host);
    if (!campaigns) {
      campaigns = new Map();
      this.#hosts.set(host, campaigns);
    }
    let queue = campaigns.get(campaign);
    if (!queue) {
      queue = new Map();
      campaigns.set(campaign, queue);
    }
    queue.set(request, this.#arrivals++);
    this.#size += 1;
  }

  /** Removes a request. Does nothing if it is not waiting. */
  delete(request: Request): void {
    const { host, campaign } = request;
    const campaigns = this.#hosts.get(host);
    const queue = campaigns?.get(campaign);
    if (!campaigns || !queue?.delete(request)) return;
    this.#size -= 1;
    if (queue.size === 0) campaigns.delete(campaign);
    if (campaigns.size === 0) this.#hosts.delete(host);
  }

  /** Removes and returns all requests for a host. */
  takeAll(host: string): Request[] {
    const taken = [...(this.#hosts.get(host)?.values() ?? [])].flatMap((queue) => [...queue.keys()]);
    for (const request of taken) this.delete(request);
    return taken;
  }

  /** Calls `visit` with the requests for a host, by campaign. `order` is lower if the oldest of them arrived earlier. */
  forEachGroup(host: string, visit: (campaign: string, oldest: Request, order: number) => void): void {
    for (const [campaign, queue] of this.#hosts.get(host) ?? []) {
      const [oldest, order] = queue.entries().next().value as [Request, number];
      visit(campaign, oldest, order);
    }
  }

  /** Returns since when the oldest request has waited; undefined if none waits. */
  oldestSince(): number | undefined {
    let since: number | undefined;
    for (const host of this.#hosts.keys())
      this.forEachGroup(host, (_, oldest) => {
        since = Math.min(since ?? oldest.since, oldest.since);
      });
    return since;
  }
}

/** Permission for one call. */
export interface Slot {
  /** Releases the slot with the observed status of the host; only the first call has an effect. */
  release(hostStatus: HostStatus, waitMs?: number): void;
}

export interface SlotRequest {
  readonly campaign: string;
  readonly host: string;
  /** Cancels the request, which rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

interface Waiter extends SlotRequest, WaitingRequest {
  readonly grant: (slot: Slot | "given-up") => void;
}

/** A request that may get the next slot, and the values that decide between it and others. */
interface Choice {
  readonly waiter: Waiter;
  readonly isProbe: boolean;
  readonly held: number;
  readonly hostHeld: number;
  readonly order: number;
}

/**
 * One campaign, or one host, may use at most this many times the number of free slots. The more of them there are, the fewer slots each
 * gets, and a slot always stays free for the next. A single campaign gets 29 of 32 slots, which takes 1.1 times as long as with all of
 * them; one host gets 26, so that a host that starts to hang leaves slots to the others.
 */
const CAMPAIGN_HELD_PER_FREE = 8;
const HOST_HELD_PER_FREE = 4;

/** Limit of hosts in memory: clients choose the hosts. */
const MAX_KNOWN_HOSTS = 10_000;

/** Shares the calls in flight of this process fairly. */
export type Slots = ReturnType<typeof createSlots>;

export interface SlotStats {
  readonly inFlight: number;
  readonly waiting: number;
  /** Age of the oldest waiting request. */
  readonly oldestWaitMs: number;
  readonly hostsDown: number;
}

/**
 * Shares `total` slots between campaigns and, within them, between client hosts. The next free slot goes to the campaign
 * with the fewest slots, within it to the host with the fewest, and within it to the oldest request.
 */
export function createSlots(options: {
  readonly total: number;
  readonly breakerSettings: CircuitBreakerSettings;
}) {
  const { total, breakerSettings } = options;
  const hosts = new Map<string, CircuitBreaker>();
  const heldBy = new Map<string, number>();
  const waiters = new WaitingRequests<Waiter>();
  let inFlight = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function breakerOf(host: string): CircuitBreaker {
    let breaker = hosts.get(host);
    if (!breaker) {
      if (hosts.size >= MAX_KNOWN_HOSTS) evictIdleHosts();
      breaker = new CircuitBreaker(breakerSettings);
      hosts.set(host, breaker);
    }
    return breaker;
  }

  function evictIdleHosts(): void {
    const nowMs = performance.now();
    for (const [host, breaker] of hosts)
      if (breaker.isIdle(nowMs) && !waiters.isWaitingFor(host)) hosts.delete(host);
  }

  function mayHoldMore(held: number, perFree: number): boolean {
    const free = total - inFlight;
    // The last free slot is reserved for those that have few.
    return held < (free === 1 ? HOST_HELD_PER_FREE : perFree) * free;
  }

  /** Returns the request that gets the next slot; undefined if none may have one. */
  function chooseNext(nowMs: number): Choice | undefined {
    let best: Choice | undefined;
    for (const host of waiters.hosts()) {
      const breaker = breakerOf(host);
      const hostHeld = breaker.inFlight;
      if (!mayHoldMore(hostHeld, HOST_HELD_PER_FREE)) continue;
      const admission = breaker.admission(nowMs);
      if (admission !== "free" && admission !== "probe") continue;
      waiters.forEachGroup(host, (campaign, waiter, order) => {
        const held = heldBy.get(campaign) ?? 0;
        if (!mayHoldMore(held, CAMPAIGN_HELD_PER_FREE)) return;
        if (best && (held - best.held || hostHeld - best.hostHeld || order - best.order) > 0) return;
        best = { waiter, isProbe: admission === "probe", held, hostHeld, order };
      });
    }
    return best;
  }

  function grantSlots(): void {
    const nowMs = performance.now();
    while (inFlight < total && waiters.size > 0) {
      const next = chooseNext(nowMs);
      if (!next) break;
      waiters.delete(next.waiter);
      next.waiter.grant(take(next.waiter, next.isProbe));
    }
    rejectGivenUp(nowMs);
    scheduleRetry(nowMs);
  }

  function rejectGivenUp(nowMs: number): void {
    for (const host of waiters.hosts()) {
      if (breakerOf(host).admission(nowMs) !== "given-up") continue;
      for (const waiter of waiters.takeAll(host)) waiter.grant("given-up");
    }
  }

  /** Sets a timer for the next change of a host's admission that no call causes. */
  function scheduleRetry(nowMs: number): void {
    clearTimeout(timer);
    let next = Number.POSITIVE_INFINITY;
    for (const host of waiters.hosts()) next = Math.min(next, breakerOf(host).nextChangeMs(nowMs));
    if (Number.isFinite(next)) timer = setTimeout(grantSlots, Math.ceil(next - nowMs));
  }

  function take({ campaign, host }: SlotRequest, isProbe: boolean): Slot {
    const breaker = breakerOf(host);
    breaker.start(performance.now());
    inFlight += 1;
    heldBy.set(campaign, (heldBy.get(campaign) ?? 0) + 1);
    let isHeld = true;
    return {
      release(hostStatus, waitMs = 0) {
        if (!isHeld) return;
        isHeld = false;
        inFlight -= 1;
        const left = (heldBy.get(campaign) ?? 1) - 1;
        if (left === 0) heldBy.delete(campaign);
        else heldBy.set(campaign, left);
        breaker.finish({ isProbe, hostStatus, waitMs }, performance.now());
        grantSlots();
      },
    };
  }

  return {
    /** Waits for a slot. `given-up`: the host has been down for too long to wait for it. */
    acquire(request: SlotRequest): Promise<Slot | "given-up"> {
      const { signal } = request;
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const cancel = () => {
          waiters.delete(waiter);
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
        waiters.add(waiter);
        grantSlots();
      });
    },

    stats(): SlotStats {
      const nowMs = performance.now();
      const oldest = waiters.oldestSince() ?? nowMs;
      let hostsDown = 0;
      for (const breaker of hosts.values()) if (breaker.isDown(nowMs)) hostsDown += 1;
      return { inFlight, waiting: waiters.size, oldestWaitMs: nowMs - oldest, hostsDown };
    },
  };
}
