import type { UpstreamProgress } from "./progress.ts";

/** The methods of the upstream worker. */
export interface UpstreamRpc {
  progress(): UpstreamProgress;
}
