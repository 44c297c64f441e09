/**
 * State of a followed node. `ok`; `lagging`: more than 20 blocks behind the best verified head; `failing`: its calls fail,
 * or it was left for a while; `refused`: it sent a block that is not the network's; `partial`: it lacks shards or blocks, or
 * follows only some fids.
 */
export const ENDPOINT_STATES = ["ok", "lagging", "failing", "refused", "partial"] as const;

export type EndpointState = (typeof ENDPOINT_STATES)[number];

/** Public view of a node of `upstream.urls`, identified by its position because the status is public. */
export interface EndpointStatus {
  /** Position in the settings, starting at 1. Discovered nodes follow after them. */
  readonly position: number;
  /** Whether other nodes announced it, and the settings do not name it. */
  readonly isDiscovered: boolean;
  readonly state: EndpointState;
  /** Whether blocks are read from it. */
  readonly isActive: boolean;
  /** Blocks behind the best verified head, on the shard with the greatest lag; undefined while its heads are not known. */
  readonly lagBlocks: number | undefined;
  /** Latency of its last response. */
  readonly latencyMs: number | undefined;
  /** Why it is not `ok`, for operators; undefined if it is. */
  readonly reason: string | undefined;
}
