import type { ConfirmRpc } from "../../auth/owners/owners.ts";
import type { BulkProgress } from "../../db/index/bulk/bulk-state.ts";
import type { TrustProgress } from "../chain/trust-tracker.ts";
import type { EndpointStatus } from "../peers/endpoints/endpoint-status.ts";
import type { EngineProgress } from "./engine-watch.ts";

/** The phases of following. */
export const UPSTREAM_PHASES = [
  // There was no response from the upstream since the start.
  "connecting",
  // Reads the complete state of every fid. New blocks are written to the journal.
  "backfill",
  // Applies the journal.
  "replay",
  // Applies each block as it arrives.
  "live",
  // Reads the fids again that a gap concerns.
  "reconcile",
] as const;

export type UpstreamPhase = (typeof UPSTREAM_PHASES)[number];

export interface ShardProgress {
  /** 0 is the shard of the block chain. */
  readonly shard: number;
  /** The newest block that is in the index with all blocks before it; 0 before the first. */
  readonly appliedBlock: number;
  /** The newest block that the upstream reported. */
  readonly headBlock: number;
  /** Seconds between now and the time of `appliedBlock`; undefined before the first. */
  readonly lagSecs: number | undefined;
}

/** The progress of following. */
export interface UpstreamProgress {
  /** Whether the network is ahead of this program. */
  readonly engine: EngineProgress;
  /**
   * Whether there is a connection to the upstream. A connection that the peer has silently left is closed within 15 seconds.
   */
  readonly isConnected: boolean;
  /** The nodes from the settings, in the same order. */
  readonly upstreams: readonly EndpointStatus[];
  readonly phase: UpstreamPhase;
  /** Empty before the upstream has reported its shards. */
  readonly shards: readonly ShardProgress[];
  /** For the running backfill or reconciliation. */
  readonly fids: { readonly done: number; readonly total: number };
  /** The bulk build, which follows reading all fids into an empty index; undefined while none is running. */
  readonly build: BulkProgress | undefined;
  /** Messages applied since the start of the process. */
  readonly messages: number;
  /** Over the last few seconds. */
  readonly messagesPerSec: number;
  /** Time until the fids have been read, at the average speed so far; undefined before the first. */
  readonly etaSecs: number | undefined;
  /** Why the upstream is not a Farcaster node, for operators; undefined if it is one or it is not known. */
  readonly peerError: string | undefined;
  /** How far the followed chain is verified. */
  readonly trust: TrustProgress;
  /** The latest fault that was retried, for operators. */
  readonly lastFault: string | undefined;
}

/** The methods of the upstream worker. */
export interface UpstreamRpc extends ConfirmRpc {
  progress(): UpstreamProgress;
}
