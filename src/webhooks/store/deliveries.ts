import type { Secret, Subscription } from "../../db/state/records.ts";
import type { Claim, StoreRefusal } from "../../db/state/stores.ts";
import type { EventKind } from "../../protocol/event-kind.ts";

/**
 * Webhook deliveries: events, and one delivery of an event for each webhook that it matches. Times are unix seconds, or
 * unix milliseconds where the name ends in `Ms`, and come from the caller.
 */

/** Changes of webhooks after a version. */
export interface SubscriptionChanges {
  /** Version of the state of all webhooks after these changes. */
  readonly version: number;
  readonly changed: readonly {
    readonly webhookId: string;
    readonly ownerFid: number;
    readonly active: boolean;
    readonly subscription: Subscription;
    readonly createdAt: number;
  }[];
  readonly deleted: readonly string[];
}

/** An event that is to be delivered. */
export interface QueuedEvent {
  /** Deterministic: every node derives the same id for the same event. */
  readonly eventId: string;
  readonly kind: EventKind;
  /** When the node applied the change that caused it. */
  readonly createdAt: number;
  /** JSON body of the request. */
  readonly body: string;
  readonly webhookIds: readonly string[];
}

/** Events with their webhooks, matched against one version of all webhooks. */
export interface MatchedEvents {
  /** The `SubscriptionChanges.version` that they were matched against. */
  readonly version: number;
  readonly nowSecs: number;
  readonly events: readonly QueuedEvent[];
}

export interface Publication {
  /** Number of new deliveries. */
  readonly queued: number;
  /** Webhooks of the new deliveries. */
  readonly webhookIds: readonly string[];
  /** Deliveries that were not queued because the queue of their webhook is full. */
  readonly dropped: number;
}

/** The publisher's side of the store. */
export interface DeliveryPublications {
  /** Returns the webhooks that changed after a version (0: all of them). */
  changesSince(version: number): Promise<SubscriptionChanges>;
  /**
   * Queues deliveries of events, in one transaction. An existing delivery stays unchanged, and nothing is queued for a
   * webhook that is inactive or deleted.
   *
   * @returns `changed` when a webhook has changed since `version`: nothing was queued, and the caller matches again.
   */
  publish(matched: MatchedEvents): Promise<Publication | "changed">;
  /**
   * Deactivates a webhook and stores the reason.
   *
   * @returns false when nothing changed: it is inactive, deleted, or has changed since `version`.
   */
  deactivate(deactivation: Deactivation): Promise<boolean>;
}

/** A deactivation of a webhook by the node. */
export interface Deactivation {
  readonly webhookId: string;
  /** Text for the owner. */
  readonly reason: string;
  /** The `SubscriptionChanges.version` that the reason applies to. */
  readonly version: number;
  readonly nowSecs: number;
}

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

/** The delivery worker's side of the store. Concurrent claims never return the same delivery. */
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

export const deliveryStates = ["queued", "delivered", "failed", "dropped"] as const;

/** `dropped`: it waited too long for a call. */
export type DeliveryState = (typeof deliveryStates)[number];

/** A delivery as the owner sees it. */
export interface LoggedDelivery {
  readonly seq: number;
  readonly messageId: string;
  readonly eventId: string;
  readonly kind: EventKind;
  readonly isTest: boolean;
  readonly state: DeliveryState;
  readonly createdAt: number;
  readonly endedAt: number | null;
  /** Time of the next attempt; null during an attempt and when there are no more. */
  readonly nextAttemptAtMs: number | null;
  /** The latest attempts, oldest first. */
  readonly attempts: readonly Attempt[];
}

/** Position in a list of deliveries; a page starts after it. */
export type DeliveryPosition = Pick<LoggedDelivery, "createdAt" | "seq">;

export interface DeliveryPage {
  readonly webhookId: string;
  /** Undefined for all states. */
  readonly state: DeliveryState | undefined;
  /** Last delivery of the previous page; undefined for the first page. */
  readonly after: DeliveryPosition | undefined;
  readonly max: number;
}

/** Failed or dropped deliveries that were created within a time range, both ends included. */
export interface FailedRange {
  readonly webhookId: string;
  readonly fromSecs: number;
  readonly toSecs: number;
}

export interface Replayed {
  readonly queued: number;
  /** The last delivery, when there may be more after it. */
  readonly last: DeliveryPosition | undefined;
}

/** The owner's side of the store. */
export interface DeliveryLog {
  /** Newest first. */
  list(page: DeliveryPage): Promise<LoggedDelivery[]>;
  /** Queues one finished delivery again, with as many attempts as a new one. */
  replay(
    claim: Claim,
    messageId: string,
    nowMs: number,
  ): Promise<"queued" | "unknown" | "still-queued" | "inactive" | StoreRefusal>;
  /** Queues at most `max` failed and dropped deliveries again, oldest first, starting after `after`. */
  replayRange(
    claim: Claim,
    range: Omit<FailedRange, "webhookId">,
    page: { readonly after: DeliveryPosition | undefined; readonly max: number; readonly nowMs: number },
  ): Promise<Replayed | "inactive" | StoreRefusal>;
  /** Queues test events for one webhook, or none of them when its queue has no room for all (`full`). */
  queueTests(
    claim: Claim,
    events: readonly Omit<QueuedEvent, "webhookIds">[],
    nowMs: number,
  ): Promise<"queued" | "inactive" | "full" | StoreRefusal>;
  /** Returns the number of deliveries of all webhooks by state. */
  totals(): Promise<Readonly<Record<DeliveryState, number>>>;
}
