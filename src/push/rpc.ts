import type { RpcClient } from "../lib/port-rpc.ts";
import type { CampaignEnd, CampaignRef, FanOut, FanOutStats } from "./fan-out.ts";

/** What other threads ask of the fan-out worker. */
export type FanOutRequest =
  | { readonly type: "run"; readonly campaign: CampaignRef }
  | { readonly type: "figures" };

export type FanOutResponse =
  | { readonly type: "run"; readonly end: CampaignEnd }
  | { readonly type: "figures"; readonly figures: FanOutStats };

/** Answers a request within the worker. */
export async function handleFanOutRequest(fanOut: FanOut, request: FanOutRequest): Promise<FanOutResponse> {
  return request.type === "figures"
    ? { type: "figures", figures: await fanOut.stats() }
    : { type: "run", end: await fanOut.run(request.campaign) };
}

/** The fan-out as other threads see it. */
export function fanOutOver(client: RpcClient<FanOutRequest, FanOutResponse>): FanOut {
  return {
    async run(campaign) {
      const answer = await client.call({ type: "run", campaign });
      if (answer.type !== "run") throw new Error("the fan-out worker answered another question");
      return answer.end;
    },
    async stats() {
      const answer = await client.call({ type: "figures" });
      if (answer.type !== "figures") throw new Error("the fan-out worker answered another question");
      return answer.figures;
    },
  };
}
