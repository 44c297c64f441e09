import type { Config } from "../config/schema.ts";
import { serveRpc } from "../lib/port-rpc.ts";
import { createMaintenance, type MaintenanceStats } from "../maintenance/maintenance.ts";
import type { MaintenanceRequest } from "../maintenance/rpc.ts";
import { scheduleMaintenance } from "../maintenance/schedule.ts";
import { systemClock } from "../process/clock.ts";
import { createLogger } from "../process/logger.ts";
import { openState, statePath } from "../state/database.ts";
import { createStateSweeps } from "../state/sqlite/sweeps.ts";
import { runWorker } from "./worker-entry.ts";

/** Deletes what has outlived its use from the state database. */
runWorker<Config>(async (config) => {
  const log = createLogger(config, { subsystem: "maintenance" });
  const db = openState(statePath(config.data.dir));
  const maintenance = createMaintenance({
    sweeps: createStateSweeps(db),
    clock: systemClock,
    onFault: (sweep, err) => log.error({ err, sweep }, "A sweep failed"),
  });
  const end = scheduleMaintenance(maintenance);
  return {
    connect: (port) => serveRpc<MaintenanceRequest, MaintenanceStats>(port, () => maintenance.stats()),
    async stop() {
      await end();
      db[Symbol.dispose]();
    },
  };
});
