import type { RpcClient } from "../lib/port-rpc.ts";
import type { CampaignRef, FanOut, FanOutFigures } from "./fan-out.ts";

/** What other threads ask of the fan-out worker. */
export type FanOutRequest =
  | { readonly type: "run"; readonly campaign: CampaignRef }
  | { readonly type: "figures" };

export type FanOutAnswer = FanOutFigures | undefined;

/** Answers a request within the worker. */
export function handleFanOutRequest(fanOut: FanOut, request: FanOutRequest): Promise<FanOutAnswer> {
  if (request.type === "figures") return fanOut.figures();
  return fanOut.run(request.campaign).then(() => undefined);
}

/** The fan-out as other threads see it. */
export function fanOutOver(client: RpcClient<FanOutRequest, FanOutAnswer>): FanOut {
  return {
    async run(campaign) {
      await client.call({ type: "run", campaign });
    },
    async figures() {
      const figures = await client.call({ type: "figures" });
      if (!figures) throw new Error("the fan-out worker answered without figures");
      return figures;
    },
  };
}
