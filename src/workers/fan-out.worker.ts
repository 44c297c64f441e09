import { createFanOut } from "../app/fan-out.ts";
import type { Config } from "../config/schema.ts";
import { indexPath, openIndexReader } from "../index/database.ts";
import { serveRpc } from "../lib/port-rpc.ts";
import { type FanOutAnswer, type FanOutRequest, handleFanOutRequest } from "../notify/rpc.ts";
import { systemClock } from "../process/clock.ts";
import { createLogger } from "../process/logger.ts";
import { openState, openStateUnsynced, statePath } from "../state/database.ts";
import { runWorker } from "./worker-entry.ts";

/** How long clients may still answer once the process is told to stop. */
const STOP_GRACE_MS = 1_500;

/** Carries notification campaigns out, off the thread of the reads. */
runWorker<Config>(async (config) => {
  const log = createLogger(config, {});
  const index = openIndexReader(indexPath(config.data.dir));
  const state = openState(statePath(config.data.dir));
  const ledger = openStateUnsynced(statePath(config.data.dir));
  const fanOut = await createFanOut({ common: { config, clock: systemClock, log }, index, state, ledger });
  return {
    connect: (port) =>
      serveRpc<FanOutRequest, FanOutAnswer>(port, (request) => handleFanOutRequest(fanOut, request)),
    async stop() {
      await fanOut.stop(STOP_GRACE_MS);
      ledger[Symbol.dispose]();
      state[Symbol.dispose]();
      index[Symbol.dispose]();
    },
  };
});
