import type { OwnedRecord, OwnedStore } from "../../management/owned-store.ts";
import type { Subscription } from "../subscription.ts";

/** Delivery health of a webhook. */
export interface WebhookHealth {
  /** Deliveries that wait for an attempt or are being attempted. */
  readonly queued: number;
  /** When a delivery last succeeded. */
  readonly lastSuccessAt: number | null;
  /** When an attempt last failed. */
  readonly lastFailureAt: number | null;
  /** Consecutive deliveries whose attempts all failed. */
  readonly consecutiveFailures: number;
  /** When the first of them failed; null when there are none. */
  readonly failingSince: number | null;
  /** Deliveries that expired in the queue, or did not fit into it. */
  readonly dropped: number;
  /** When and why the node deactivated the webhook; null if it did not, or if the webhook was reactivated. */
  readonly deactivatedAt: number | null;
  readonly deactivationReason: string | null;
}

/** The health of a webhook without deliveries. */
export const UNTRIED: WebhookHealth = {
  queued: 0,
  lastSuccessAt: null,
  lastFailureAt: null,
  consecutiveFailures: 0,
  failingSince: null,
  dropped: 0,
  deactivatedAt: null,
  deactivationReason: null,
};

/** A receiver of events. */
export interface Webhook extends OwnedRecord {
  /** UUID. */
  readonly webhookId: string;
  readonly title: string;
  readonly targetUrl: string;
  readonly description: string | null;
  /** Whether new deliveries are queued. */
  readonly active: boolean;
  readonly subscription: Subscription;
  /** The compat prefix under which it was created, such as `farcaster`; null for the service's own prefix. */
  readonly compatPrefix: string | null;
  readonly health: WebhookHealth;
}

export type WebhookChanges = Partial<
  Pick<Webhook, "title" | "targetUrl" | "description" | "active" | "subscription">
>;

/** The webhooks. */
export type WebhookStore = OwnedStore<Webhook, WebhookChanges>;
