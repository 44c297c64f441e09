import type { DeliveryStats } from "./deliver/delivery-stats.ts";
import type { SchedulerStats } from "./deliver/fair-scheduler.ts";
import type { Previews } from "./preview/previews.ts";
import type { PublisherStats } from "./publish/publisher.ts";
import type { ReplayRunner } from "./replay/replay-runner.ts";
import type { DeliveryState } from "./store/delivery-log.ts";

/** Stats of the delivery worker. */
export interface DeliveryNodeStats extends DeliveryStats, SchedulerStats, PublisherStats {
  /** Deliveries of all webhooks within the retention; null if the state does not respond. */
  readonly deliveries: Readonly<Record<DeliveryState, number>> | null;
}

/** The methods of the delivery worker. */
export interface DeliveryNode extends Previews {
  /** Notifies the engine of queued deliveries for a webhook. */
  wake(webhookId: string): Promise<void>;
  /** Notifies the engine that a webhook was created, changed or deleted. Afterwards no call starts with what it was before. */
  changed(webhookId: string): Promise<void>;
  /** See `ReplayRunner`. */
  planReplay: ReplayRunner["plan"];
  wakeReplays(): Promise<void>;
  stats(): Promise<DeliveryNodeStats>;
}
