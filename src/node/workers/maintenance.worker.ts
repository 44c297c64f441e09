import type { Config } from "../../config/schema.ts";
import type { StateNode } from "../../db/state/state-node.ts";
import { createFaultLog } from "../../db/state/unavailable-log.ts";
import { connectRpc, serveRpc } from "../../lib/port-rpc.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLogger } from "../../runtime/logger.ts";
import {
  createMaintenance,
  type MaintenanceRpc,
  POSTGRES_LIMITS,
  SQLITE_LIMITS,
} from "../maintenance/maintenance.ts";
import { scheduleMaintenance } from "../maintenance/schedule.ts";
import { startBackupSchedule } from "../snapshot/backup-schedule.ts";
import { createStateSweeps } from "../state/sqlite-stores.ts";
import { createStateWriterClient } from "../state/writer-client.ts";
import type { StateWriterRpc } from "../state/writer-rpc.ts";
import { runWorker } from "./worker-entry.ts";

/** The initial message of the maintenance worker; `state` connects to the writer of the state. */
export interface MaintenanceWorkerInit {
  readonly config: Config;
  readonly state: MessagePort;
  readonly stateNode: StateNode;
}

/** Deletes expired and orphaned rows from the state database, and makes the scheduled backups. */
runWorker<MaintenanceWorkerInit>(async ({ config, state }) => {
  const log = createLogger(config, { subsystem: "maintenance" });
  const logFault = createFaultLog({ log, clock: systemClock });
  const maintenance = createMaintenance({
    sweeps: createStateSweeps(createStateWriterClient(connectRpc<StateWriterRpc>(state))),
    clock: systemClock,
    limits: config.state.url === "" ? SQLITE_LIMITS : POSTGRES_LIMITS,
    onFault: (sweep, cause) => logFault(cause, { sweep }, "A sweep failed"),
  });
  const stop = scheduleMaintenance(maintenance);
  const backups =
    config.backup.at === "" ? undefined : startBackupSchedule({ config, clock: systemClock, log });
  return {
    connect: (port) =>
      serveRpc<MaintenanceRpc>(port, {
        stats: () => ({ ...maintenance.stats(), backup: backups?.stats() ?? null }),
      }),
    async stop() {
      await Promise.all([stop(), backups?.stop()]);
    },
  };
});
