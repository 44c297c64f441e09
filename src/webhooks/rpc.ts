import type { RpcClient } from "../lib/port-rpc.ts";
import type { DeliveryStats } from "./deliver/delivery-stats.ts";
import type { SchedulerStats } from "./deliver/fair-scheduler.ts";
import type { PublisherStats } from "./publish/publisher.ts";
import type { DeliveryState } from "./store/deliveries.ts";

/** Everything that the delivery worker tells of itself. */
export interface DeliveryNodeStats extends DeliveryStats, SchedulerStats, PublisherStats {
  /** Deliveries of all webhooks, since those that ended are forgotten after a while. */
  readonly deliveries: Readonly<Record<DeliveryState, number>>;
}

/** What other threads ask of the delivery worker. */
export interface DeliveryNode {
  /** Tells that something was queued for a webhook, or that it is active again. */
  wake(webhookId: string): Promise<void>;
  stats(): Promise<DeliveryNodeStats>;
}

export type DeliveryRequest =
  | { readonly type: "wake"; readonly webhookId: string }
  | { readonly type: "figures" };

export type DeliveryResponse = DeliveryNodeStats | undefined;

/** Answers a request within the worker. */
export async function handleDeliveryRequest(
  node: DeliveryNode,
  request: DeliveryRequest,
): Promise<DeliveryResponse> {
  if (request.type === "figures") return node.stats();
  await node.wake(request.webhookId);
  return undefined;
}

/** The delivery worker as other threads see it. */
export function deliveryNodeOver(client: RpcClient<DeliveryRequest, DeliveryResponse>): DeliveryNode {
  return {
    async wake(webhookId) {
      await client.call({ type: "wake", webhookId });
    },
    async stats() {
      const figures = await client.call({ type: "figures" });
      if (!figures) throw new Error("the delivery worker answered without figures");
      return figures;
    },
  };
}
