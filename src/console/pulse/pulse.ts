import type { HistoryStep } from "./history.ts";
import type { SeriesPage } from "./series-page.ts";

/** What is paused, why, by whom and since when (unix seconds). */
export interface PauseReport {
  readonly name: string;
  readonly reason: string;
  readonly paused_by: string;
  readonly paused_at: number;
}

export interface RefusedRecords {
  readonly reason: string;
  readonly count: number;
}

/** The public figures of a node. */
export interface Pulse {
  readonly version: string;
  /** The id of the node that responds. */
  readonly node: string;
  readonly network: string;
  readonly demo: boolean;
  readonly uptime_secs: number;
  readonly ready: boolean;
  /** Why the node is not ready; null if it is. */
  readonly reason: string | null;
  /** What the operator has paused. */
  readonly paused: readonly PauseReport[];
  /** Rows of the index by kind, as in `/status`. */
  readonly counts: Readonly<Record<string, number>>;
  /** The records that the import of this start refused, by reason, most frequent first. */
  readonly refused: readonly RefusedRecords[];
  /** The progress of an index that follows another node; null if it follows none. */
  readonly following: Following | null;
  readonly merged_per_second: number | null;
  readonly requests_per_second: number | null;
  /** Response times of the API in the last minute; null without responses. */
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  readonly history: {
    readonly step_secs: number;
    /** Merged records per second, newest last; null where there is no sample. */
    readonly merged: readonly (number | null)[];
  };
}

export interface Following {
  readonly phase: string;
  readonly fids_done: number;
  readonly fids_total: number;
  /** The step of building the index, and its progress; null if the index is not being built. */
  readonly build: { readonly stage: string; readonly done_percent: number } | null;
  readonly eta_secs: number | null;
  /** The lag of the shard with the largest lag. */
  readonly lag_secs: number | null;
  /** How the followed network is verified; null before it is reached. */
  readonly proof: Proof | null;
}

/** How the followed network is verified, for its worst shard. */
export interface Proof {
  /**
   * `fork`, `unknown_validators`: the shard has stopped. `quarantined`: no node could repair accounts that differ. `stale`: no block was
   * proven recently. `differs`, `incomplete`, `unproven`, `computing`, `proven`: as in `/status`. `blocks`: only its blocks are verified.
   * `node`: nothing is verified.
   */
  readonly state:
    | "fork"
    | "unknown_validators"
    | "quarantined"
    | "stale"
    | "differs"
    | "node"
    | "blocks"
    | "unproven"
    | "incomplete"
    | "computing"
    | "proven";
  readonly shard: number;
  /** The block of the fork, the first differing block, or the newest proven one. */
  readonly height: number | null;
  /** The age of the newest proven block. */
  readonly age_secs: number | null;
  /** The number of quarantined accounts. */
  readonly accounts: number;
  /** How many of the shard's validators signed its newest block. */
  readonly signers: number | null;
  readonly validators: number | null;
}

/** The main thread's methods for public pages. */
export interface PulseRpc {
  /** Computed at most once a second. */
  pulse(): Promise<Pulse>;
  /** Returns the rows of the public history after a time (unix seconds). */
  publicSeries(step: HistoryStep, since: number): SeriesPage;
}
