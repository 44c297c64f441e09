import type { FollowerDeps } from "../../../src/upstream/follow/follow.ts";

/** How tests call their nodes, which are on this machine. */
export function callsAtOnce(concurrency: number): FollowerDeps["calls"] {
  return { concurrency, max_calls_per_sec: 0, contact: "", bulkFrom: [] };
}
