import { ApiError } from "../http/errors.ts";
import { connectRpc, type RpcClient } from "../lib/port-rpc.ts";
import type { Result } from "../lib/result.ts";
import type { NoticesRpc } from "../notices/rpc.ts";
import type { RecentLine } from "../runtime/log/recent-lines.ts";
import type { HistoryQueries } from "./history/queries.ts";
import type { OperatorRefusal, OperatorSessions } from "./operator/operator-sessions.ts";
import type { BackupsReport, SettingsChanged, SettingsReport, ThreadsReport } from "./operator/reports.ts";
import type { SetUpRuns } from "./operator/set-up-runs.ts";
import type { TarFile } from "./operator/tar.ts";
import type { HistoryStep } from "./pulse/history.ts";
import type { PulseRpc } from "./pulse/pulse.ts";
import type { SeriesPage } from "./pulse/series-page.ts";

/** A backup that may be downloaded once. */
export interface OfferedBackup {
  readonly name: string;
  /** As stored: encrypted files stay encrypted. */
  readonly files: readonly TarFile[];
}

/** The methods of the main thread for the operator's page. */
export interface OperatorRpc
  extends NoticesRpc,
    SetUpRuns,
    Pick<OperatorSessions, "checkToken" | "issueCode" | "open" | "admit" | "end"> {
  /** Returns all rows of the history after a time (unix seconds). */
  series(step: HistoryStep, since: number): SeriesPage;
  threads(): Promise<ThreadsReport>;
  settings(): SettingsReport;
  /** Checks values and returns why they cannot be set. Changes nothing. */
  checkSettings(values: Readonly<Record<string, unknown>>): Result<null, OperatorRefusal>;
  /** Sets values by key, or removes what was set here (null). */
  changeSettings(
    values: Readonly<Record<string, unknown>>,
  ): Promise<Result<SettingsChanged, OperatorRefusal>>;
  /** Restarts the node with the settings in its files. */
  restartNode(): Result<null, OperatorRefusal>;
  log(after: number): readonly RecentLine[];
  backups(): Promise<BackupsReport>;
  /** Starts a backup of the state in the background; `backups` returns its outcome. */
  backUp(): Promise<Result<null, OperatorRefusal>>;
  /** Starts reading a backup back; `backups` returns the outcome. */
  checkBackup(name: string): Promise<Result<null, OperatorRefusal>>;
  /** Returns the secret with which a backup can be downloaded once. */
  offerBackup(name: string): Promise<Result<string, OperatorRefusal>>;
  takeBackup(ticket: string): Promise<Result<OfferedBackup, OperatorRefusal>>;
  backupTaken(): Promise<void>;
}

/** The methods of the main thread for the console. */
export interface ConsoleRpc extends PulseRpc, OperatorRpc, HistoryQueries {}

const TIMEOUT_MS = 2_000;

/** Returns the client of the main thread over its port. Its methods throw an ApiError `unavailable` if there is no response. */
export function connectConsole(port: MessagePort): RpcClient<ConsoleRpc> {
  return connectRpc<ConsoleRpc>(port, {
    timeoutMs: TIMEOUT_MS,
    timeoutError: () => new ApiError("unavailable", "the main thread does not respond"),
  });
}
