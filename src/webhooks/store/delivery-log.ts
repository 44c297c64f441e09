import type { Claim, StoreRefusal } from "../../management/owned-store.ts";
import type { EventKind } from "../../protocol/event-kind.ts";
import type { AttemptStats, StatsRequest } from "./attempt-stats.ts";
import type { QueuedEvent } from "./delivery-publications.ts";
import type { Attempt } from "./delivery-queue.ts";

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
  /** The replay that queued it last; null for none. */
  readonly replayId: string | null;
  /** Time of the next attempt; null during an attempt and when there are no more. */
  readonly nextAttemptAtMs: number | null;
  /** The latest attempts, oldest first. */
  readonly attempts: readonly Attempt[];
}

/** Position in a list of deliveries; a page starts after it. */
export type DeliveryPosition = Pick<LoggedDelivery, "createdAt" | "seq">;

/** Which deliveries of a webhook a list has. A field that is left out selects all. */
export interface DeliveryFilter {
  readonly state?: DeliveryState | undefined;
  readonly kind?: EventKind | undefined;
  readonly isTest?: boolean | undefined;
  /** A message or event id, or what its body has: an fid, a hash or a host. */
  readonly text?: string | undefined;
  /** That of the last response. */
  readonly status?: number | undefined;
  readonly replayId?: string | undefined;
  /** Bounds of the time of creation, both included. */
  readonly fromSecs?: number | undefined;
  readonly toSecs?: number | undefined;
}

export interface DeliveryPage extends DeliveryFilter {
  readonly webhookId: string;
  /** Where the previous page ended; undefined for the first page. */
  readonly after: DeliveryPosition | undefined;
  readonly max: number;
}

export interface ListedDeliveries {
  /** Newest first. There may be fewer than wanted, even none, although more follow: a page looks at a bounded number of deliveries. */
  readonly deliveries: readonly LoggedDelivery[];
  /** Where the next page starts; undefined when there is none. */
  readonly next: DeliveryPosition | undefined;
}

/** A delivery with what is sent. */
export interface DeliveryWithBody {
  readonly delivery: LoggedDelivery;
  /** The JSON, byte for byte. */
  readonly body: string;
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

/**
 * The owner's side of the deliveries. Every method is atomic. Times are unix milliseconds where the name ends in `Ms`,
 * else unix seconds, and come from the caller.
 */
export interface DeliveryLog {
  list(page: DeliveryPage): Promise<ListedDeliveries>;
  find(webhookId: string, messageId: string): Promise<DeliveryWithBody | undefined>;
  /** Returns the attempts that ended from a time on, summed up by steps of `stepSecs`, a multiple of `STATS_STEP_SECS`. */
  stats(request: StatsRequest): Promise<readonly AttemptStats[]>;
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
