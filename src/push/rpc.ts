import type { RpcClient } from "../lib/port-rpc.ts";
import type { CampaignOutcome, CampaignRef, FanOut, FanOutStats } from "./fan-out.ts";

/** Requests that other threads send to the fan-out worker. */
export type FanOutRequest =
  | { readonly type: "run"; readonly campaign: CampaignRef }
  | { readonly type: "stats" };

export type FanOutResponse =
  | { readonly type: "run"; readonly end: CampaignOutcome }
  | { readonly type: "stats"; readonly stats: FanOutStats };

/** Handles a request within the worker. */
export async function handleFanOutRequest(fanOut: FanOut, request: FanOutRequest): Promise<FanOutResponse> {
  return request.type === "stats"
    ? { type: "stats", stats: await fanOut.stats() }
    : { type: "run", end: await fanOut.run(request.campaign) };
}

/** Returns a client of the fan-out worker for other threads. */
export function fanOutClient(client: RpcClient<FanOutRequest, FanOutResponse>): FanOut {
  return {
    async run(campaign) {
      const response = await client.call({ type: "run", campaign });
      if (response.type !== "run") throw new Error("the fan-out worker replied to another request");
      return response.end;
    },
    async stats() {
      const response = await client.call({ type: "stats" });
      if (response.type !== "stats") throw new Error("the fan-out worker replied to another request");
      return response.stats;
    },
  };
}
