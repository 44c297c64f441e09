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
  /** The last replay that queued it; null if none did. */
  readonly replayId: string | null;
  /** Time of the next attempt; null during an attempt and if no attempts follow. */
  readonly nextAttemptAtMs: number | null;
  /** The latest attempts, oldest first. */
  readonly attempts: readonly Attempt[];
}

/** Position in a list of deliveries; a page starts after it. */
export type DeliveryPosition = Pick<LoggedDelivery, "createdAt" | "seq">;

/** Selects deliveries of a webhook. An omitted field selects all. */
export interface DeliveryFilter {
  readonly state?: DeliveryState | undefined;
  readonly kind?: EventKind | undefined;
  readonly isTest?: boolean | undefined;
  /** A message or event id, or something that the body contains: an fid, a hash or a host. */
  readonly text?: string | undefined;
  /** The status of the last response. */
  readonly status?: number | undefined;
  readonly replayId?: string | undefined;
  /** Bounds (inclusive) of the creation time. */
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
  /** Newest first. There may be fewer than requested, even none, although more follow: a page examines a bounded number of deliveries. */
  readonly deliveries: readonly LoggedDelivery[];
  /** Where the next page starts; undefined if there is none. */
  readonly next: DeliveryPosition | undefined;
}

/** A delivery with the body that is sent. */
export interface DeliveryWithBody {
  readonly delivery: LoggedDelivery;
  /** The JSON, byte for byte. */
  readonly body: string;
}

/** Failed or dropped deliveries that were created within a time range, inclusive. */
export interface FailedRange {
  readonly webhookId: string;
  readonly fromSecs: number;
  readonly toSecs: number;
}

export interface Replayed {
  readonly queued: number;
  /** The last delivery if more may follow. */
  readonly last: DeliveryPosition | undefined;
}

/**
 * The owner's side of the deliveries. Every method is atomic. Times come from the caller, as unix milliseconds if the name ends in `Ms`
 * and as unix seconds otherwise.
 */
export interface DeliveryLog {
  list(page: DeliveryPage): Promise<ListedDeliveries>;
  find(webhookId: string, messageId: string): Promise<DeliveryWithBody | undefined>;
  /** Returns the attempts that ended from a time on, summed up in steps of `stepSecs`, a multiple of `STATS_STEP_SECS`. */
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
  /** Queues test events for one webhook, or none if its queue does not have room for all of them (`full`). */
  queueTests(
    claim: Claim,
    events: readonly Omit<QueuedEvent, "webhookIds">[],
    nowMs: number,
  ): Promise<"queued" | "inactive" | "full" | StoreRefusal>;
  /** Returns the number of deliveries of all webhooks by state. */
  totals(): Promise<Readonly<Record<DeliveryState, number>>>;
}
