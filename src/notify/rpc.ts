import type { RpcClient } from "../lib/port-rpc.ts";
import type { CampaignEnd, CampaignRef, FanOut, FanOutFigures } from "./fan-out.ts";

/** What other threads ask of the fan-out worker. */
export type FanOutRequest =
  | { readonly type: "run"; readonly campaign: CampaignRef }
  | { readonly type: "figures" };

export type FanOutAnswer =
  | { readonly type: "run"; readonly end: CampaignEnd }
  | { readonly type: "figures"; readonly figures: FanOutFigures };

/** Answers a request within the worker. */
export async function handleFanOutRequest(fanOut: FanOut, request: FanOutRequest): Promise<FanOutAnswer> {
  return request.type === "figures"
    ? { type: "figures", figures: await fanOut.figures() }
    : { type: "run", end: await fanOut.run(request.campaign) };
}

/** The fan-out as other threads see it. */
export function fanOutOver(client: RpcClient<FanOutRequest, FanOutAnswer>): FanOut {
  return {
    async run(campaign) {
      const answer = await client.call({ type: "run", campaign });
      if (answer.type !== "run") throw new Error("the fan-out worker answered another question");
      return answer.end;
    },
    async figures() {
      const answer = await client.call({ type: "figures" });
      if (answer.type !== "figures") throw new Error("the fan-out worker answered another question");
      return answer.figures;
    },
  };
}
