import type { RpcClient } from "../lib/port-rpc.ts";
import type { DeliveryStats } from "./deliver/delivery-stats.ts";
import type { SchedulerStats } from "./deliver/fair-scheduler.ts";
import type { PublisherStats } from "./publish/publisher.ts";
import type { DeliveryState } from "./store/deliveries.ts";

/** Stats of the delivery worker. */
export interface DeliveryNodeStats extends DeliveryStats, SchedulerStats, PublisherStats {
  /** Deliveries of all webhooks within the retention. */
  readonly deliveries: Readonly<Record<DeliveryState, number>>;
}

/** The requests that other threads send to the delivery worker. */
export interface DeliveryNode {
  /** Notifies the engine of queued deliveries for a webhook, or of its reactivation. */
  wake(webhookId: string): Promise<void>;
  stats(): Promise<DeliveryNodeStats>;
}

export type DeliveryRequest =
  | { readonly type: "wake"; readonly webhookId: string }
  | { readonly type: "stats" };

export type DeliveryResponse = DeliveryNodeStats | undefined;

/** Handles a request within the worker. */
export async function handleDeliveryRequest(
  node: DeliveryNode,
  request: DeliveryRequest,
): Promise<DeliveryResponse> {
  if (request.type === "stats") return node.stats();
  await node.wake(request.webhookId);
  return undefined;
}

/** Returns a client of the delivery worker for other threads. */
export function deliveryNodeClient(client: RpcClient<DeliveryRequest, DeliveryResponse>): DeliveryNode {
  return {
    async wake(webhookId) {
      await client.call({ type: "wake", webhookId });
    },
    async stats() {
      const stats = await client.call({ type: "stats" });
      if (!stats) throw new Error("the delivery worker replied without stats");
      return stats;
    },
  };
}
