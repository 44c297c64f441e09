import type { RpcClient } from "../lib/port-rpc.ts";
import type { UpstreamProgress } from "./progress.ts";

/** Requests to the upstream worker. */
export type UpstreamRequest = { readonly type: "progress" };

export type UpstreamWorkerClient = RpcClient<UpstreamRequest, UpstreamProgress>;

export function upstreamProgress(client: UpstreamWorkerClient): Promise<UpstreamProgress> {
  return client.call({ type: "progress" });
}
