import type { NotableResponse } from "../http/metrics/notable-requests.ts";
import type { Result } from "../lib/result.ts";
import type { Counts } from "./counts.ts";
import type { Mark } from "./events/marks.ts";
import type { FigureStep, Stat } from "./figure-rows.ts";
import type { LogLine, LogSearch, NumberedLine } from "./log-blocks.ts";

/** What was recorded in about a minute. */
export interface HistoryBatch {
  readonly samples: {
    /** Unix seconds, strictly rising. */
    readonly t: readonly number[];
    readonly names: readonly string[];
    /** One per name, NaN where it had no value. */
    readonly columns: readonly Float32Array[];
  };
  readonly counts: readonly Counts[];
  readonly lines: readonly LogLine[];
  readonly requests: readonly NotableResponse[];
  readonly marks: readonly Mark[];
}

/** Times are in Unix seconds; the end is exclusive. */
interface Range {
  readonly from: number;
  readonly to: number;
}

export interface FiguresQuery extends Range {
  readonly step: FigureStep | "auto";
  readonly series: readonly { readonly name: string; readonly column: string; readonly stat: Stat }[];
}

/** A time range without figures. */
export interface Gap extends Range {
  readonly why: "stopped" | "crashed" | "not_watched" | "not_kept" | "no_figures";
}

export interface FiguresPage {
  /** Interval between rows in seconds; a multiple of an hour for long ranges. */
  readonly step: number;
  readonly t: readonly number[];
  readonly columns: Readonly<Record<string, readonly (number | null)[]>>;
  readonly gaps: readonly Gap[];
}

export interface LanesQuery extends Range {
  readonly buckets: number;
}

/** Counts of a lane by kind, one per bucket. */
export type Lane = Readonly<Record<string, readonly number[]>>;

export interface LanesPage {
  /** Start of the first bucket. */
  readonly from: number;
  readonly bucket_secs: number;
  readonly buckets: number;
  /** By lane: `events`, `deliveries`, `errors`, `log`. */
  readonly lanes: Readonly<Record<string, Lane>>;
  readonly marks: readonly Mark[];
  /** The oldest time for which something is kept; null for nothing. */
  readonly kept: { readonly figures: number | null; readonly log: number | null };
  /** When watching the node started. */
  readonly watched_since: number | null;
}

export interface LogPage {
  readonly lines: readonly NumberedLine[];
  /** Where the next page starts; null at the end. */
  readonly before: number | null;
  /** Whether the search ended because its time was up, so that it can continue there. */
  readonly isPartial: boolean;
}

/** The history of the node, as the maintenance thread offers it to the main thread. An error says why it is unavailable. */
export interface HistoryRpc {
  /** Stores what was recorded. */
  record(batch: HistoryBatch): void;
  figures(query: FiguresQuery): Result<FiguresPage, string>;
  lanes(query: LanesQuery): Result<LanesPage, string>;
  log(search: LogSearch): Promise<Result<LogPage, string>>;
  /** Returns the figures of another node of the same state, and the nodes that have any. */
  nodeFigures(query: FiguresQuery, nodeId: string): Promise<Result<FiguresPage, string>>;
  nodes(): Promise<readonly string[]>;
  requests(range: Range): Result<readonly NotableResponse[], string>;
}
