import type { Secret, Subscription } from "../../db/state/records.ts";
import type { Claim, StoreRefusal } from "../../db/state/stores.ts";
import type { EventKind } from "../../protocol/event-kind.ts";

/**
 * What webhooks are sent: events, and for each webhook that one matches a delivery of it. Times are unix seconds, or
 * unix milliseconds where the name ends in `Ms`, and come from the caller.
 */

/** What changed since somebody looked last. */
export interface SubscriptionChanges {
  /** Names this state of all webhooks. */
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

/** An event that somebody is to be sent. */
export interface QueuedEvent {
  /** The same for the same event, whichever node finds it, however often. */
  readonly eventId: string;
  readonly kind: EventKind;
  /** When the node applied what made it. */
  readonly createdAt: number;
  /** The JSON that is sent. */
  readonly body: string;
  readonly webhookIds: readonly string[];
}

/** Events with their receivers, as they were matched against one state of all webhooks. */
export interface MatchedEvents {
  /** The `SubscriptionChanges.version` that they were matched against. */
  readonly version: number;
  readonly nowSecs: number;
  readonly events: readonly QueuedEvent[];
}

export interface Publication {
  /** Deliveries that are new. */
  readonly queued: number;
  /** Whom they are for. */
  readonly webhookIds: readonly string[];
  /** Deliveries that are not even queued, because too many wait for their webhooks. */
  readonly dropped: number;
}

/** Where events come in. */
export interface DeliveryPublications {
  /** The webhooks that changed since a version (0: all of them). */
  changesSince(version: number): Promise<SubscriptionChanges>;
  /**
   * Queues deliveries of events, in one transaction. A delivery that is known already stays as it is, and nothing is
   * queued for a webhook that is inactive or gone.
   *
   * @returns `changed`, and nothing is queued, where a webhook has changed since `version`: match again.
   */
  publish(matched: MatchedEvents): Promise<Publication | "changed">;
  /**
   * Deactivates a webhook, with the reason on its record.
   *
   * @returns false, and changes nothing, where it is inactive, gone, or not as it was at `version`.
   */
  deactivate(given: Deactivation): Promise<boolean>;
}

/** Which webhook the node deactivates, and why. */
export interface Deactivation {
  readonly webhookId: string;
  /** As its owner reads it. */
  readonly reason: string;
  /** The `SubscriptionChanges.version` at which there was a reason. */
  readonly version: number;
  readonly nowSecs: number;
}

/** A webhook with something queued. */
export interface Lane {
  readonly webhookId: string;
  /** When the first of it is due. */
  readonly dueAtMs: number;
  /** Whether its last attempt failed. */
  readonly isFailing: boolean;
}

/** How many calls a webhook gets within any span of so many milliseconds, and how long a delivery waits for its turn. */
export interface CallLimit {
  readonly calls: number;
  readonly windowMs: number;
  readonly maxWaitMs: number;
}

export interface ClaimRequest {
  readonly webhookId: string;
  readonly nowMs: number;
  /** Nobody else claims the same delivery before. */
  readonly leaseEndsAtMs: number;
  /**
   * No delivery waits longer than this for its next attempt, and no receiver is left alone for longer. What is scheduled
   * farther ahead was scheduled before the clock went back, and is due now.
   */
  readonly longestWaitMs: number;
  readonly limit: CallLimit;
}

/** A delivery within the store, and the claim that somebody has on it. */
export interface Leased {
  readonly seq: number;
  readonly leaseEndsAtMs: number;
}

/** A delivery that is to be attempted now, with its webhook as it stands. */
export interface ClaimedDelivery extends Leased {
  /** What the receiver knows it by: constant over all attempts, later ones by hand included. */
  readonly messageId: string;
  /** Attempts before this one since it was queued. */
  readonly attempts: number;
  readonly body: string;
  readonly ownerFid: number;
  readonly targetUrl: string;
  /** Of the webhook. */
  readonly compatPrefix: string | null;
  /** The unexpired ones, oldest first. */
  readonly secrets: readonly Secret[];
}

export interface Claimed {
  /** Undefined where nothing is due, or the webhook has to wait. */
  readonly delivery: ClaimedDelivery | undefined;
  /** Deliveries that waited too long for their turn and are given up. */
  readonly dropped: number;
  /** When another claim may bring more; null where only something new does. */
  readonly nextAtMs: number | null;
}

/** One call to a receiver, as its owner reads of it. */
export interface Attempt {
  readonly atMs: number;
  /** Of the answer; null where there was none. */
  readonly status: number | null;
  /** Class of the failure that left the call without an answer. */
  readonly error: string | null;
  readonly durationMs: number;
  /** Start of the answer's body. */
  readonly answer: string;
}

/** What an attempt means for its delivery; `gone`: the receiver wants nothing any more. */
export type Verdict =
  | { readonly kind: "delivered" }
  | { readonly kind: "retry"; readonly dueAtMs: number }
  | { readonly kind: "failed" }
  | { readonly kind: "gone" };

export interface Settlement {
  readonly delivery: Leased;
  readonly attempt: Attempt;
  readonly verdict: Verdict;
  /** Until when the receiver wants to be left alone; null where it does not say. */
  readonly holdUntilMs: number | null;
}

/** So many failed deliveries in a row, over at least so long, deactivate a webhook. */
export interface FailureRule {
  readonly failures: number;
  readonly runSecs: number;
}

/** The worker's side. Of any number of claims at the same moment, one has a delivery. */
export interface DeliveryQueue {
  /**
   * Ends all leases: what was under way when a process was killed is due again. Only for who is sure that nobody else
   * works on the queue.
   */
  recover(nowMs: number): Promise<number>;
  /** Active webhooks with something queued, in the order of their creation, those behind `after` (0: from the first). */
  lanes(after: number, max: number): Promise<{ readonly lanes: Lane[]; readonly last: number | undefined }>;
  /**
   * Takes what has been due longest of one webhook, if its limit lets it through, and gives up what has waited too long.
   *
   * @returns undefined where the webhook is inactive or gone.
   */
  claim(request: ClaimRequest): Promise<Claimed | undefined>;
  /**
   * Logs an attempt, ends the delivery or queues it again, and keeps the webhook's health, as one decision. An attempt
   * whose lease was lost leaves its delivery to whoever has it now.
   *
   * @returns why the webhook was deactivated by it, if it was.
   */
  settle(settlement: Settlement, rule: FailureRule): Promise<string | undefined>;
  /** Gives a delivery back as it was before its claim. */
  release(delivery: Leased, nowMs: number): Promise<void>;
}

export const deliveryStates = ["queued", "delivered", "failed", "dropped"] as const;

/** `dropped`: it waited too long for its turn. */
export type DeliveryState = (typeof deliveryStates)[number];

/** A delivery as its owner sees it. */
export interface LoggedDelivery {
  readonly seq: number;
  readonly messageId: string;
  readonly eventId: string;
  readonly kind: EventKind;
  readonly isTest: boolean;
  readonly state: DeliveryState;
  readonly createdAt: number;
  readonly endedAt: number | null;
  /** When it is tried next; null once there is no next time, and while it is tried. */
  readonly nextAttemptAtMs: number | null;
  /** The last ones, oldest first. */
  readonly attempts: readonly Attempt[];
}

/** Behind which delivery of a list a page starts. */
export type DeliveryPosition = Pick<LoggedDelivery, "createdAt" | "seq">;

export interface DeliveryPage {
  readonly webhookId: string;
  /** Undefined for every state. */
  readonly state: DeliveryState | undefined;
  /** The last one of the page before; undefined for the first page. */
  readonly after: DeliveryPosition | undefined;
  readonly max: number;
}

/** Deliveries that came to nothing and were queued within a time, both ends included. */
export interface FailedRange {
  readonly webhookId: string;
  readonly fromSecs: number;
  readonly toSecs: number;
}

export interface Replayed {
  readonly queued: number;
  /** The last one, where there may be more behind it. */
  readonly last: DeliveryPosition | undefined;
}

/** The owner's side. */
export interface DeliveryLog {
  /** Newest first. */
  list(page: DeliveryPage): Promise<LoggedDelivery[]>;
  /** Queues one delivery that has ended for as many attempts as a new one. */
  replay(
    claim: Claim,
    messageId: string,
    nowMs: number,
  ): Promise<"queued" | "unknown" | "not-ended" | "inactive" | StoreRefusal>;
  /** Queues failed and dropped deliveries, oldest first, those behind `after`, at most `max` of them. */
  replayRange(
    claim: Claim,
    range: Omit<FailedRange, "webhookId">,
    page: { readonly after: DeliveryPosition | undefined; readonly max: number; readonly nowMs: number },
  ): Promise<Replayed | "inactive" | StoreRefusal>;
  /** Queues events for one webhook that no record made; none of them where too many wait already (`full`). */
  queueTests(
    claim: Claim,
    events: readonly Omit<QueuedEvent, "webhookIds">[],
    nowMs: number,
  ): Promise<"queued" | "inactive" | "full" | StoreRefusal>;
  /** Deliveries of all webhooks by state. */
  totals(): Promise<Readonly<Record<DeliveryState, number>>>;
}
