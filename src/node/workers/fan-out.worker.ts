import { NodeSignals, sendPermissionOf } from "../../cluster/node-signals.ts";
import type { Config } from "../../config/schema.ts";
import { indexPath, openIndexReader } from "../../db/index/database.ts";
import { openStateReader, statePath } from "../../db/state/database.ts";
import type { StateNode } from "../../db/state/state-node.ts";
import { connectRpc, serveRpc } from "../../lib/port-rpc.ts";
import type { FanOut } from "../../push/fan-out.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLogger } from "../../runtime/logger.ts";
import { createFanOut } from "../compose/fan-out.ts";
import { createStateStores } from "../state/sqlite-stores.ts";
import { createStateWriterClient } from "../state/writer-client.ts";
import type { StateWriterRpc } from "../state/writer-rpc.ts";
import { runWorker } from "./worker-entry.ts";

/** The initial message of the fan-out worker; `state` connects to the writer of the state. */
export interface FanOutWorkerInit {
  readonly config: Config;
  readonly state: MessagePort;
  readonly stateNode: StateNode;
  /** See `NodeSignals`. */
  readonly signals: SharedArrayBuffer;
}

/** The time that clients have left to respond after the process starts to shut down. */
const STOP_GRACE_MS = 1_500;

/** Runs notification campaigns, off the threads that serve reads. */
runWorker<FanOutWorkerInit>(async ({ config, state, signals }) => {
  const log = createLogger(config, {});
  const index = openIndexReader(indexPath(config.data.dir));
  const stateReader = openStateReader(statePath(config.data.dir));
  const fanOut = createFanOut({
    common: { config, clock: systemClock, log },
    permission: sendPermissionOf(new NodeSignals(signals)),
    index,
    state: createStateStores(stateReader, createStateWriterClient(connectRpc<StateWriterRpc>(state))),
  });
  return {
    connect: (port) => serveRpc<FanOut>(port, fanOut),
    async stop() {
      await fanOut.stop(STOP_GRACE_MS);
      stateReader[Symbol.dispose]();
      index[Symbol.dispose]();
    },
  };
});
