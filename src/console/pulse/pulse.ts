import type { HistoryStep } from "./history.ts";
import type { SeriesPage } from "./series-page.ts";

/** What is paused, why, by which operator and since when (unix seconds). */
export interface PauseReport {
  readonly name: string;
  readonly reason: string;
  readonly paused_by: string;
  readonly paused_at: number;
}

/** The public figures of the node. */
export interface Pulse {
  readonly version: string;
  /** The id of the node that responds. */
  readonly node: string;
  readonly network: string;
  readonly demo: boolean;
  readonly uptime_secs: number;
  readonly ready: boolean;
  /** Why the node is not ready; null while it is. */
  readonly reason: string | null;
  /** What the operator has paused. */
  readonly paused: readonly PauseReport[];
  /** Rows of the index by kind, as in `/status`. */
  readonly counts: Readonly<Record<string, number>>;
  /** How far an index that follows another node has come; null for one that follows none. */
  readonly following: Following | null;
  readonly merged_per_second: number | null;
  readonly requests_per_second: number | null;
  /** Response times of the API in the last minute; null without responses. */
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  readonly history: {
    readonly step_secs: number;
    /** Merged records a second, the newest last; null where there is no sample. */
    readonly merged: readonly (number | null)[];
  };
}

export interface Following {
  readonly phase: string;
  readonly fids_done: number;
  readonly fids_total: number;
  /** The step of building the index, and how much of it is done; null while it is not built. */
  readonly build: { readonly stage: string; readonly done_percent: number } | null;
  readonly eta_secs: number | null;
  /** The lag of the shard that lags most. */
  readonly lag_secs: number | null;
}

/** The methods of the main thread for pages that anybody may open. */
export interface PulseRpc {
  /** Made at most once a second. */
  pulse(): Promise<Pulse>;
  /** The rows of the public history after a time (unix seconds). */
  publicSeries(step: HistoryStep, since: number): SeriesPage;
}
