import type { RpcClient } from "../lib/port-rpc.ts";
import type { UpstreamProgress } from "./progress.ts";

/** What the worker that follows is asked. */
export type UpstreamRequest = { readonly type: "progress" };

export type UpstreamWorkerClient = RpcClient<UpstreamRequest, UpstreamProgress>;

export function upstreamProgress(client: UpstreamWorkerClient): Promise<UpstreamProgress> {
  return client.call({ type: "progress" });
}
