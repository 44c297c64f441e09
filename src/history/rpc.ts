import type { NotableResponse } from "../http/metrics/notable-requests.ts";
import type { Result } from "../lib/result.ts";
import type { Counts } from "./counts.ts";
import type { Mark } from "./events/marks.ts";
import type { FigureStep, Stat } from "./figure-rows.ts";
import type { LogLine, LogSearch, NumberedLine } from "./log-blocks.ts";

/** What was noted in about a minute. */
export interface HistoryBatch {
  readonly samples: {
    /** Unix seconds, strictly rising. */
    readonly t: readonly number[];
    readonly names: readonly string[];
    /** One for each name, NaN where it had no value. */
    readonly columns: readonly Float32Array[];
  };
  readonly counts: readonly Counts[];
  readonly lines: readonly LogLine[];
  readonly requests: readonly NotableResponse[];
  readonly marks: readonly Mark[];
}

/** Times are unix seconds; the end is excluded. */
interface Range {
  readonly from: number;
  readonly to: number;
}

export interface FiguresQuery extends Range {
  readonly step: FigureStep | "auto";
  readonly series: readonly { readonly name: string; readonly column: string; readonly stat: Stat }[];
}

/** A time without figures. */
export interface Gap extends Range {
  readonly why: "stopped" | "crashed" | "not_watched" | "not_kept" | "no_figures";
}

export interface FiguresPage {
  /** The distance of rows, seconds; a multiple of an hour for long ranges. */
  readonly step: number;
  readonly t: readonly number[];
  readonly columns: Readonly<Record<string, readonly (number | null)[]>>;
  readonly gaps: readonly Gap[];
}

export interface LanesQuery extends Range {
  readonly buckets: number;
}

/** Counts of a lane by kind, one for each bucket. */
export type Lane = Readonly<Record<string, readonly number[]>>;

export interface LanesPage {
  /** The begin of the first bucket. */
  readonly from: number;
  readonly bucket_secs: number;
  readonly buckets: number;
  /** By lane: `events`, `deliveries`, `errors`, `log`. */
  readonly lanes: Readonly<Record<string, Lane>>;
  readonly marks: readonly Mark[];
  /** The oldest time of which something is kept; null for nothing. */
  readonly kept: { readonly figures: number | null; readonly log: number | null };
  /** When the node was first watched. */
  readonly watched_since: number | null;
}

export interface LogPage {
  readonly lines: readonly NumberedLine[];
  /** Where the next page begins; null at the end. */
  readonly before: number | null;
  /** Whether the search ended for its time, and continues there. */
  readonly isPartial: boolean;
}

/** The history of the node: what the maintenance thread offers to the main thread. An error says why there is none now. */
export interface HistoryRpc {
  /** Stores what was noted. */
  record(batch: HistoryBatch): void;
  figures(query: FiguresQuery): Result<FiguresPage, string>;
  lanes(query: LanesQuery): Result<LanesPage, string>;
  log(search: LogSearch): Promise<Result<LogPage, string>>;
  /** The figures of another node of the same state, and the nodes of which there are some. */
  nodeFigures(query: FiguresQuery, nodeId: string): Promise<Result<FiguresPage, string>>;
  nodes(): Promise<readonly string[]>;
  requests(range: Range): Result<readonly NotableResponse[], string>;
}
