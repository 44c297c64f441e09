import type { Config } from "../../config/schema.ts";
import { type OperatorRefusal, refuse } from "../../console/operator/operator-refusal.ts";
import type { BackupsReport } from "../../console/operator/reports.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { BackupSchedule } from "./backup-schedule.ts";
import type { Backups } from "./backups.ts";

/** The backups that the operator sees and starts. */
export interface OperatorBackups {
  report(): BackupsReport;
  /** Starts a backup of the state. It ends on its own. */
  start(): Result<null, OperatorRefusal>;
  /** Stops the one under way, and deletes what it has written. */
  stop(): Promise<void>;
}

export function createOperatorBackups(deps: {
  readonly config: Pick<Config, "state" | "backup">;
  readonly backups: Backups;
  readonly schedule: Pick<BackupSchedule, "stats"> | undefined;
  readonly log: Logger;
}): OperatorBackups {
  const { config, backups, schedule, log } = deps;
  const unavailable = unavailableReason(config);
  const stopping = new AbortController();
  let started: Promise<unknown> = Promise.resolve();

  return {
    report: () => ({
      backups: config.backup.dir === "" ? [] : backups.list(),
      under_way: backups.isUnderWay(),
      unavailable,
      keep: config.backup.keep,
      next_at: schedule?.stats().nextAt ?? null,
    }),
    start() {
      if (unavailable !== null) return refuse("conflict", unavailable);
      if (backups.isUnderWay()) return refuse("conflict", "a backup is under way");
      started = backups.make("state", stopping.signal, true).then(
        ({ path, deleted }) => log.info({ path, deleted }, "Made a backup"),
        (err) => {
          if (!stopping.signal.aborted) log.error({ err }, "A backup failed");
        },
      );
      return ok(null);
    },
    async stop() {
      stopping.abort(new Error("the node is shutting down"));
      await started;
    },
  };
}

function unavailableReason({ state, backup }: Pick<Config, "state" | "backup">): string | null {
  if (state.url !== "") return "the state is in PostgreSQL: back it up with the tools of PostgreSQL";
  if (backup.dir === "") return "set backup.dir to a directory, best on another disk, and restart the node";
  return null;
}
