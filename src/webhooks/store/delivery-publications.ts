import type { EventKind } from "../../protocol/event-kind.ts";
import type { Subscription } from "../subscription.ts";

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

/** An event to deliver. */
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

/** The other live processes that publish the same network's events. Times are unix seconds. */
export interface OtherProcesses {
  /** Since when this process has applied blocks live; null if it does not. */
  readonly ownLiveSince: number | null;
  /** The start of the other process that has done so for the longest time; null if none does. */
  readonly othersLiveSince: number | null;
}

export interface QueueLimits {
  /** Limit of queued deliveries of one webhook; further ones are dropped at once. */
  readonly maxQueued: number;
}

/**
 * The publisher's side of the deliveries: events, and one delivery of an event per matching webhook. Every method is atomic. Times are
 * unix seconds and come from the caller.
 */
export interface DeliveryPublications {
  /** Returns the webhooks that changed after a version (0: all webhooks). */
  changesSince(version: number): Promise<SubscriptionChanges>;
  /** Returns undefined if no other process is alive. */
  otherProcesses(): Promise<OtherProcesses | undefined>;
  /**
   * Queues deliveries of events, in one transaction. An existing delivery stays unchanged, and nothing is queued for a webhook that is
   * inactive or deleted.
   *
   * @returns `changed` if a webhook has changed since `version`: nothing was queued, and the caller must match again.
   */
  publish(matched: MatchedEvents): Promise<Publication | "changed">;
  /**
   * Deactivates a webhook and stores the reason.
   *
   * @returns false if nothing changed: it is inactive, deleted, or has changed since `version`.
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
