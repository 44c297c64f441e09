import type { RpcClient } from "../lib/port-rpc.ts";
import type { DeliveryState } from "../state/deliveries.ts";
import type { DeliveryFigures } from "./delivery-stats.ts";
import type { LaneFigures } from "./lanes.ts";
import type { PublisherFigures } from "./publisher.ts";

/** Everything that the delivery worker tells of itself. */
export interface DeliveryNodeFigures extends DeliveryFigures, LaneFigures, PublisherFigures {
  /** Deliveries of all webhooks, since those that ended are forgotten after a while. */
  readonly deliveries: Readonly<Record<DeliveryState, number>>;
}

/** What other threads ask of the delivery worker. */
export interface DeliveryNode {
  /** Tells that something was queued for a webhook, or that it is active again. */
  wake(webhookId: string): Promise<void>;
  figures(): Promise<DeliveryNodeFigures>;
}

export type DeliveryRequest =
  | { readonly type: "wake"; readonly webhookId: string }
  | { readonly type: "figures" };

export type DeliveryAnswer = DeliveryNodeFigures | undefined;

/** Answers a request within the worker. */
export async function handleDeliveryRequest(
  node: DeliveryNode,
  request: DeliveryRequest,
): Promise<DeliveryAnswer> {
  if (request.type === "figures") return node.figures();
  await node.wake(request.webhookId);
  return undefined;
}

/** The delivery worker as other threads see it. */
export function deliveryNodeOver(client: RpcClient<DeliveryRequest, DeliveryAnswer>): DeliveryNode {
  return {
    async wake(webhookId) {
      await client.call({ type: "wake", webhookId });
    },
    async figures() {
      const figures = await client.call({ type: "figures" });
      if (!figures) throw new Error("the delivery worker answered without figures");
      return figures;
    },
  };
}
