import type { Result } from "../../lib/result.ts";
import type { RecentLine } from "../../runtime/recent-lines.ts";
import type { HistoryStep } from "../pulse/history.ts";
import type { SeriesPage } from "../pulse/series-page.ts";
import type { OperatorRefusal } from "./operator-refusal.ts";
import type { OperatorSessions } from "./operator-sessions.ts";
import type { BackupsReport, SettingInForce, ThreadsReport } from "./reports.ts";

/** The methods of the main thread for the operator's page. */
export interface OperatorRpc extends Pick<OperatorSessions, "issueCode" | "open" | "admit" | "end"> {
  /** The rows of the whole history after a time (unix seconds). */
  series(step: HistoryStep, since: number): SeriesPage;
  threads(): Promise<ThreadsReport>;
  settings(): readonly SettingInForce[];
  log(after: number): readonly RecentLine[];
  backups(): Promise<BackupsReport>;
  /** Starts a backup of the state. It ends on its own, and `backups` has its outcome. */
  backUp(): Promise<Result<null, OperatorRefusal>>;
}
