import type { LogSearch } from "../../history/log-blocks.ts";
import type { FiguresPage, FiguresQuery, LanesPage, LanesQuery, LogPage } from "../../history/rpc.ts";
import type { NotableResponse } from "../../http/metrics/notable-requests.ts";
import type { Result } from "../../lib/result.ts";

/** Who asks. Anybody may see what `/metrics` and the status page show. */
export type Audience = "anybody" | "operator";

export interface FiguresRequest extends Pick<FiguresQuery, "from" | "to" | "step"> {
  /** Names of series with `.mean`, `.max` or `.min`; undefined for all that the audience may see. */
  readonly series: readonly string[] | undefined;
  /** Another node of the same state; undefined for this one. */
  readonly node?: string | undefined;
}

/** Lanes up to the present. */
export interface RecentLanes extends LanesPage {
  /** Later events are not counted yet, unix seconds. */
  readonly recorded_until: number;
}

/** The main thread's methods for the history. An error explains why there is none. */
export interface HistoryQueries {
  historyFigures(request: FiguresRequest, audience: Audience): Promise<Result<FiguresPage, string>>;
  /** Returns the nodes whose figures this one has; none with state.db. */
  historyNodes(): Promise<readonly string[]>;
  historyLanes(query: LanesQuery, audience: Audience): Promise<Result<RecentLanes, string>>;
  historyLog(search: LogSearch): Promise<Result<LogPage, string>>;
  historyRequests(range: {
    readonly from: number;
    readonly to: number;
  }): Promise<Result<readonly NotableResponse[], string>>;
}
