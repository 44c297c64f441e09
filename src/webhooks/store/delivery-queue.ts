import type { Secret } from "../../db/state/secret.ts";

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
   * Longest delay before another attempt, and longest hold that a receiver can request. A delivery that is scheduled
   * further ahead was scheduled before the clock went back, and is due now.
   */
  readonly maxRetryDelayMs: number;
  readonly limit: CallLimit;
}

/** A delivery and the lease on it. */
export interface Leased {
  readonly seq: number;
  readonly leaseEndsAtMs: number;
}

/** A delivery that is to be attempted now, with the current state of its webhook. */
export interface ClaimedDelivery extends Leased {
  /** Id that the receiver sees: the same for all attempts, manual replays included. */
  readonly messageId: string;
  /** Earlier attempts since it was queued. */
  readonly attempts: number;
  readonly body: string;
  readonly ownerFid: number;
  readonly targetUrl: string;
  /** Of the webhook. */
  readonly compatPrefix: string | null;
  /** Unexpired secrets, oldest first. */
  readonly secrets: readonly Secret[];
}

export interface Claimed {
  /** Undefined when nothing is due, or the webhook has to wait. */
  readonly delivery: ClaimedDelivery | undefined;
  /** Number of deliveries that waited too long and were dropped. */
  readonly dropped: number;
  /** When another claim may return a delivery; null when nothing is queued. */
  readonly nextAtMs: number | null;
}

/** One call to a receiver, as the owner sees it. */
export interface Attempt {
  readonly atMs: number;
  /** Of the response; null without one. */
  readonly status: number | null;
  /** Class of the error when there was no response. */
  readonly error: string | null;
  readonly durationMs: number;
  /** Start of the response body. */
  readonly responseText: string;
}

/** The effect of an attempt on its delivery. `gone`: the receiver refuses all further deliveries. */
export type Verdict =
  | { readonly kind: "delivered" }
  | { readonly kind: "retry"; readonly dueAtMs: number }
  | { readonly kind: "failed" }
  | { readonly kind: "gone" };

export interface Settlement {
  readonly delivery: Leased;
  readonly attempt: Attempt;
  readonly verdict: Verdict;
  /** End of the hold that the receiver requested (Retry-After); null without one. */
  readonly holdUntilMs: number | null;
}

/** A webhook is deactivated after `failures` failed deliveries in a row over at least `runSecs`. */
export interface FailureRule {
  readonly failures: number;
  readonly runSecs: number;
}

/**
 * The delivery worker's side of the deliveries. Concurrent claims never return the same delivery. Every method is atomic.
 * Times are unix milliseconds where the name ends in `Ms`, else unix seconds, and come from the caller.
 */
export interface DeliveryQueue {
  /**
   * Ends all leases, so that deliveries that were in flight when a process was killed are due again. Only for the single
   * worker of the queue.
   */
  recover(nowMs: number): Promise<number>;
  /** Returns active webhooks with queued deliveries in order of creation, starting after `after` (0: from the first). */
  dueWebhooks(
    after: number,
    max: number,
  ): Promise<{ readonly webhooks: DueWebhook[]; readonly last: number | undefined }>;
  /**
   * Claims the delivery of a webhook that has been due longest, if the limit allows a call, and drops deliveries that have
   * waited too long.
   *
   * @returns undefined when the webhook is inactive or deleted.
   */
  claim(request: ClaimRequest): Promise<Claimed | undefined>;
  /**
   * Logs an attempt, finishes the delivery or queues it again, and updates the webhook's health, atomically. Without the
   * lease (another claim has the delivery) it changes nothing.
   *
   * @returns the reason if this deactivated the webhook.
   */
  settle(settlement: Settlement, rule: FailureRule): Promise<string | undefined>;
  /** Undoes a claim. */
  release(delivery: Leased, nowMs: number): Promise<void>;
}
