import type { Clock } from "../../runtime/clock.ts";
import type { Claimed, ClaimedDelivery, ClaimRequest, DeliveryQueue } from "../store/delivery-queue.ts";
import type { SchedulerSlot } from "./fair-scheduler.ts";

/** Limit of claimed deliveries, of all webhooks, that wait for a slot. At the limit, each claim takes one delivery. */
const MAX_AHEAD = 512;
/** Longest time from a claim to the call. A delivery that waited longer is claimed again: its webhook may have changed at another node. */
const MAX_HOLD_MS = 1_000;

export interface ClaimsDeps {
  readonly queue: Pick<DeliveryQueue, "claim" | "unclaim">;
  readonly clock: Clock;
  readonly settings: Pick<ClaimRequest, "limit" | "maxRetryDelayMs"> & {
    readonly leaseMs: number;
    readonly errorBackoffMs: number;
  };
  readonly onDropped: (webhookId: string, dropped: number) => void;
  readonly onFault: (cause: unknown, webhookId: string, message: string) => void;
  /** Registers work that must finish before the engine has stopped. */
  readonly track: (work: Promise<void>) => void;
}

/**
 * The deliveries that the engine has claimed and not yet called.
 *
 * A webhook that receives quickly has some deliveries claimed ahead of its slots, for at most `MAX_HOLD_MS`, and more are
 * claimed while half of them still wait, so that calls do not wait for the writer of the state. As soon as one call fails
 * they are given back, because the failure may deactivate the webhook or delay its deliveries. The same happens when the webhook changes.
 */
export type Claims = ReturnType<typeof createClaims>;

/** Claimed deliveries of a webhook that wait for a slot; at least one. */
interface Ahead {
  /** Longest due first. */
  readonly waiting: ClaimedDelivery[];
  /** Whether the last claim returned as many as it was allowed to. */
  hasMore: boolean;
}

interface ClaimUnderWay {
  readonly webhookId: string;
  /** Whether a call has failed in the meantime. */
  isRevoked: boolean;
  /** Whether the webhook has changed in the meantime, so that not even the first delivery may be called. */
  isOutdated: boolean;
  readonly max: number;
  readonly returned: Promise<Claimed | undefined>;
}

export function createClaims(deps: ClaimsDeps) {
  const { queue, clock, settings, onDropped, onFault, track } = deps;
  /** By webhook. */
  const ahead = new Map<string, Ahead>();
  let aheadCount = 0;
  /** The newest claim in progress of each webhook. */
  const underWay = new Map<string, ClaimUnderWay>();
  const allUnderWay = new Set<ClaimUnderWay>();
  let isStopped = false;

  function takeAhead(slot: SchedulerSlot): ClaimedDelivery | undefined {
    const { webhookId, claimLimit } = slot;
    const claimed = ahead.get(webhookId);
    const next = claimed?.waiting[0];
    if (!claimed || !next) return undefined;
    const nowMs = clock.nowMs();
    const heldMs = nowMs - (next.leaseEndsAtMs - settings.leaseMs);
    if (heldMs < 0 || heldMs > MAX_HOLD_MS) {
      giveBack(webhookId);
      return undefined;
    }
    const { waiting, hasMore } = claimed;
    waiting.shift();
    aheadCount -= 1;
    if (waiting.length === 0) ahead.delete(webhookId);
    if (hasMore && claimLimit > 1 && waiting.length <= claimLimit / 2) refill(webhookId, claimLimit);
    // More may have been queued since the claim, so the next claim finds out what is due.
    slot.claimed(nowMs, nowMs);
    return next;
  }

  function refill(webhookId: string, claimLimit: number): void {
    if (underWay.has(webhookId) || aheadCount + claimLimit > MAX_AHEAD) return;
    const claim = startClaim(webhookId, claimLimit);
    const stored = claim.returned.then(
      (claimed) => {
        endClaim(claim);
        const deliveries = claimed?.deliveries ?? [];
        holdAhead(webhookId, deliveries, { ...claim, hasMore: deliveries.length === claimLimit });
      },
      (cause) => {
        endClaim(claim);
        onFault(cause, webhookId, "The next deliveries could not be claimed");
      },
    );
    track(stored);
  }

  function startClaim(webhookId: string, max: number): ClaimUnderWay {
    const nowMs = clock.nowMs();
    // Reserved until the claim returns.
    aheadCount += max;
    const request = {
      webhookId,
      nowMs,
      leaseEndsAtMs: nowMs + settings.leaseMs,
      maxRetryDelayMs: settings.maxRetryDelayMs,
      limit: settings.limit,
      max,
      maxHoldMs: MAX_HOLD_MS,
    };
    const returned = queue.claim(request).then((claimed) => {
      if (claimed && claimed.dropped > 0) onDropped(webhookId, claimed.dropped);
      return claimed;
    });
    const claim = { webhookId, isRevoked: false, isOutdated: false, max, returned };
    underWay.set(webhookId, claim);
    allUnderWay.add(claim);
    return claim;
  }

  /** Must run in the same turn as what follows, so that no failure of a call is missed in between. */
  function endClaim(claim: ClaimUnderWay): void {
    if (underWay.get(claim.webhookId) === claim) underWay.delete(claim.webhookId);
    allUnderWay.delete(claim);
    aheadCount -= claim.max;
  }

  /** Returns whether more deliveries are due now: those that wait, or whose claims it undid. */
  function holdAhead(
    webhookId: string,
    deliveries: readonly ClaimedDelivery[],
    { isRevoked, hasMore }: { readonly isRevoked: boolean; readonly hasMore: boolean },
  ): boolean {
    const claimed = ahead.get(webhookId);
    if (claimed) claimed.hasMore = hasMore;
    if (deliveries.length === 0) return false;
    if (isRevoked || isStopped) {
      unclaim(webhookId, deliveries);
      return true;
    }
    if (claimed) claimed.waiting.push(...deliveries);
    else ahead.set(webhookId, { waiting: [...deliveries], hasMore });
    aheadCount += deliveries.length;
    return true;
  }

  async function claim(slot: SchedulerSlot): Promise<ClaimedDelivery | undefined> {
    const { webhookId, claimLimit } = slot;
    const max = aheadCount + claimLimit > MAX_AHEAD ? 1 : claimLimit;
    const started = startClaim(webhookId, max);
    let claimed: Claimed | undefined;
    try {
      claimed = await started.returned;
    } catch (cause) {
      endClaim(started);
      onFault(cause, webhookId, "The next delivery could not be claimed");
      const nowMs = clock.nowMs();
      slot.claimed(nowMs + settings.errorBackoffMs, nowMs);
      return undefined;
    }
    endClaim(started);
    const deliveries = claimed?.deliveries ?? [];
    const delivery = started.isOutdated ? undefined : deliveries[0];
    const waiting = deliveries.slice(delivery ? 1 : 0);
    const hasMore = waiting.length === max - 1;
    const isMoreDue = holdAhead(webhookId, waiting, { ...started, hasMore });
    const nowMs = clock.nowMs();
    slot.claimed(isMoreDue ? nowMs : (claimed?.nextAtMs ?? null), nowMs);
    return delivery;
  }

  /** Undoes the claims of the webhook's deliveries that wait for a slot. */
  function giveBack(webhookId: string): void {
    for (const claim of allUnderWay) if (claim.webhookId === webhookId) claim.isRevoked = true;
    const claimed = ahead.get(webhookId);
    if (!claimed) return;
    ahead.delete(webhookId);
    aheadCount -= claimed.waiting.length;
    unclaim(webhookId, claimed.waiting);
  }

  /** Undoes them, and all that claims of the webhook in progress return. */
  function outdate(webhookId: string): void {
    for (const claim of allUnderWay) if (claim.webhookId === webhookId) claim.isOutdated = true;
    giveBack(webhookId);
  }

  /** Undoes all such claims. */
  function giveBackAll(): void {
    for (const webhookId of [...ahead.keys()]) giveBack(webhookId);
  }

  /** Undoes claims of deliveries that `next` returned and that were not called. */
  function unclaim(webhookId: string, deliveries: readonly ClaimedDelivery[]): void {
    // If this fails, the leases expire and the deliveries are sent then.
    const undone = queue
      .unclaim(deliveries)
      .catch((cause) => onFault(cause, webhookId, "Claimed deliveries could not be given back"));
    track(undone);
  }

  return {
    /** Returns the webhook's next delivery, longest due first; undefined if there is none now. */
    async next(slot: SchedulerSlot): Promise<ClaimedDelivery | undefined> {
      const delivery = takeAhead(slot);
      if (delivery) return delivery;
      // Deliveries of the claim in progress have been due longer than those of a new one.
      await underWay.get(slot.webhookId)?.returned.catch(() => undefined);
      return takeAhead(slot) ?? claim(slot);
    },
    giveBack,
    giveBackAll,
    outdate,
    undo: unclaim,
    /** Undoes all such claims, now and when a claim in progress returns. */
    stop(): void {
      isStopped = true;
      giveBackAll();
    },
  };
}
