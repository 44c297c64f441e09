import type { Secret } from "../../db/state/secret.ts";

/** Maximum number of concurrent calls to a webhook, over all processes. */
export const CALLS_PER_WEBHOOK = 4;

/** A webhook with queued deliveries. */
export interface DueWebhook {
  readonly webhookId: string;
  /** When the first delivery is due. */
  readonly dueAtMs: number;
  /** Whether its last attempt failed. */
  readonly isFailing: boolean;
}

/** At most `calls` within any span of `windowMs`; a delivery that waits longer than `maxWaitMs` is dropped. */
export interface CallLimit {
  readonly calls: number;
  readonly windowMs: number;
  readonly maxWaitMs: number;
}

export interface ClaimRequest {
  readonly webhookId: string;
  readonly nowMs: number;
  /** No other claim gets the same delivery before this time. */
  readonly leaseEndsAtMs: number;
  /**
   * Longest delay before another attempt, and longest wait that a receiver can request. A delivery that is scheduled further ahead was
   * scheduled before the clock was set back, and is due now.
   */
  readonly maxRetryDelayMs: number;
  readonly limit: CallLimit;
  /** Maximum number of deliveries. */
  readonly max: number;
  /** The longest time from the claim to the start of a call; the rate limit applies to the starts of calls. */
  readonly maxHoldMs: number;
}

/** A delivery and the lease on it, which belongs to the process that claimed it. */
export interface Leased {
  readonly seq: number;
  readonly leaseEndsAtMs: number;
}

/** A delivery to attempt now, with the current state of its webhook. */
export interface ClaimedDelivery extends Leased {
  /** When it was due before the claim. */
  readonly dueAtMs: number;
  /** The part of the rate limit's window in which the claim counted the call. */
  readonly countedAtMs: number;
  /** The id that the receiver sees: the same for all attempts, including manual replays. */
  readonly messageId: string;
  /** Earlier attempts since it was queued. */
  readonly attempts: number;
  /** The replay that queued it; null if none did. */
  readonly replayId: string | null;
  readonly body: string;
  readonly ownerFid: number;
  readonly targetUrl: string;
  /** The webhook's compat prefix. */
  readonly compatPrefix: string | null;
  /** Unexpired secrets, oldest first. */
  readonly secrets: readonly Secret[];
}

export interface Claimed {
  /** Longest due first; empty if nothing is due or the webhook has to wait. */
  readonly deliveries: readonly ClaimedDelivery[];
  /** Number of deliveries that waited too long and were dropped. */
  readonly dropped: number;
  /** When another claim may return a delivery; null if nothing is queued. */
  readonly nextAtMs: number | null;
}

/** One call to a receiver, as the owner sees it. */
export interface Attempt {
  readonly atMs: number;
  /** The status of the response; null without one. */
  readonly status: number | null;
  /** The class of the error if there was no response. */
  readonly error: string | null;
  readonly durationMs: number;
  /** Start of the response body. */
  readonly responseText: string;
}

/** The effect of an attempt on its delivery. `gone` means that the receiver refuses all further deliveries. */
export type Verdict =
  | { readonly kind: "delivered" }
  | { readonly kind: "retry"; readonly dueAtMs: number }
  | { readonly kind: "failed" }
  | { readonly kind: "gone" };

export interface Settlement {
  readonly delivery: Leased;
  readonly attempt: Attempt;
  readonly verdict: Verdict;
  /** Until when the receiver requested no calls (Retry-After); null if it did not. */
  readonly holdUntilMs: number | null;
}

/** A webhook is deactivated after `failures` consecutive failed deliveries over at least `runSecs`. */
export interface FailureRule {
  readonly failures: number;
  readonly runSecs: number;
}

/**
 * A process's side of the deliveries: the store knows its boot. Concurrent claims, even in different processes, never return the same
 * delivery. Every method is atomic. Times come from the caller, as unix milliseconds if the name ends in `Ms` and as unix seconds
 * otherwise.
 */
export interface DeliveryQueue {
  /**
   * Ends at most `max` leases of processes that are no longer alive, so that the deliveries they had in flight are due again.
   *
   * @returns the number of ended leases.
   */
  endLeasesOfTheDead(nowMs: number, max: number): Promise<number>;
  /** Returns active webhooks with queued deliveries in order of creation, starting after `after` (0: from the first). */
  dueWebhooks(
    after: number,
    max: number,
  ): Promise<{ readonly webhooks: DueWebhook[]; readonly last: number | undefined }>;
  /**
   * Claims the deliveries of a webhook that have been due longest, as many as the limit allows calls, and drops deliveries that have
   * waited too long.
   *
   * @returns undefined if the webhook is inactive or deleted.
   */
  claim(request: ClaimRequest): Promise<Claimed | undefined>;
  /**
   * Logs attempts in order, finishes their deliveries or queues them again, and updates the health of their webhooks, atomically. A
   * settlement without its lease changes nothing: the lease has expired and another claim has the delivery, or this process was
   * considered dead.
   *
   * @returns for each settlement the reason if it deactivated the webhook.
   */
  settle(settlements: readonly Settlement[], rule: FailureRule): Promise<readonly (string | undefined)[]>;
  /** Undoes the claims of deliveries whose calls did not start. */
  unclaim(deliveries: readonly ClaimedDelivery[]): Promise<void>;
  /** Ends the lease on a delivery whose call was cancelled: it is due again, and the attempt does not count. */
  release(delivery: Leased, nowMs: number): Promise<void>;
}
