import type { Config } from "../../config/schema.ts";
import { createFaultLog } from "../../db/state/unavailable.ts";
import { createSharedFigures } from "../../history/shared/shared-figures.ts";
import { serveRpc } from "../../lib/port-rpc.ts";
import { valueWithin } from "../../lib/promises.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLogger } from "../../runtime/log/logger.ts";
import { startBackupSchedule } from "../backup/backup-schedule.ts";
import { createBackups, createOperatorBackups } from "../backup/backups.ts";
import {
  createMaintenance,
  type MaintenanceRpc,
  POSTGRES_LIMITS,
  SQLITE_LIMITS,
  scheduleMaintenance,
} from "../maintenance/maintenance.ts";
import { openNodeHistory } from "../maintenance/node-history.ts";
import { openStateStores } from "../state/open-state.ts";
import type { StateLink } from "../state/thread-state.ts";
import { runWorker } from "./worker-entry.ts";

/** How long a shutdown waits for PostgreSQL to take the last figures. */
const SHARE_MS = 2_000;

/** The initial message of the maintenance worker. */
export interface MaintenanceWorkerInit {
  readonly config: Config;
  readonly state: StateLink;
}

/** Deletes expired and orphaned rows from the state, makes the scheduled backups, and writes the history. */
runWorker<MaintenanceWorkerInit>(async ({ config, state: link }, { keepLine }) => {
  const log = createLogger(config, { subsystem: "maintenance", keep: keepLine });
  const state = await openStateStores({ config, part: "maintenance", link, log });
  const logFault = createFaultLog({ log, clock: systemClock });
  const maintenance = createMaintenance({
    sweeps: state.sweeps,
    lease: state.maintenanceLease,
    clock: systemClock,
    limits: config.state.url === "" ? SQLITE_LIMITS : POSTGRES_LIMITS,
    onFault: (sweep, cause) => logFault(cause, { sweep }, "A sweep failed"),
  });
  const stop = scheduleMaintenance(maintenance);
  const history = openNodeHistory(config, log);
  const shared = createSharedFigures({
    store: state.stores.nodeFigures,
    nodeId: link.node.nodeId,
    clock: systemClock,
    onFault: (cause) => logFault(cause, {}, "The figures of this minute are not shared"),
  });
  let sharing: Promise<void> = Promise.resolve();
  const isShared = config.state.url !== "" && config.history.enabled;
  const backups = createBackups({ config, clock: systemClock, past: history.backups });
  const schedule = startBackupSchedule({ config, clock: systemClock, log, make: backups.make });
  const byOperator = createOperatorBackups({ config, backups, schedule, clock: systemClock, log });
  return {
    connect: (port) =>
      serveRpc<MaintenanceRpc>(port, {
        stats: () => ({
          ...maintenance.stats(),
          backup: config.backup.at === "" ? null : schedule.stats(),
          history: history.stats(),
        }),
        ...history.rpc,
        record(batch) {
          history.rpc.record(batch);
          // The history does not wait for the state.
          if (isShared) sharing = shared.share(batch);
        },
        nodeFigures: shared.figures,
        nodes: async () => (isShared ? shared.nodes() : []),
        backups: byOperator.report,
        backUp: byOperator.start,
        checkBackup: byOperator.check,
        offerBackup: byOperator.offer,
        takeBackup: byOperator.take,
        backupTaken: byOperator.taken,
      }),
    async stop() {
      await Promise.all([stop(), schedule.stop(), byOperator.stop(), valueWithin(sharing, SHARE_MS)]);
      history.stop();
      await state[Symbol.asyncDispose]();
    },
  };
});
