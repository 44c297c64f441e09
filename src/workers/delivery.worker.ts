import { startDelivery } from "../app/delivery.ts";
import type { Config } from "../config/schema.ts";
import { outboxOver } from "../delivery/outbox-client.ts";
import { type DeliveryAnswer, type DeliveryRequest, handleDeliveryRequest } from "../delivery/rpc.ts";
import { indexPath, openIndexReader } from "../index/database.ts";
import { RpcClient, serveRpc } from "../lib/port-rpc.ts";
import { matchClientOver } from "../matching/rpc.ts";
import { systemClock } from "../process/clock.ts";
import { createLogger } from "../process/logger.ts";
import { openStateReader, statePath } from "../state/database.ts";
import { createStateStores } from "../state/sqlite/stores.ts";
import { createStateWriterClient } from "../state/writer-client.ts";
import { runWorker } from "./worker-entry.ts";

/** What the delivery worker starts with. */
export interface DeliveryWorkerInit {
  readonly config: Config;
  /** Leads to the writer of the index, which holds the events. */
  readonly ingest: MessagePort;
  /** Leads to the writer of the state. */
  readonly state: MessagePort;
  /** Leads to the thread that matches events against subscriptions. */
  readonly matching: MessagePort;
}

/** How long receivers may still answer once the process is told to stop. */
const STOP_GRACE_MS = 1_500;

/** Turns the events of the index into webhook deliveries and carries them out. */
runWorker<DeliveryWorkerInit>(async ({ config, ingest, state, matching }) => {
  const log = createLogger(config, {});
  const index = openIndexReader(indexPath(config.data.dir));
  const stateReader = openStateReader(statePath(config.data.dir));
  const delivery = await startDelivery({
    common: { config, clock: systemClock, log },
    index,
    state: createStateStores(stateReader, createStateWriterClient(new RpcClient(state))),
    outbox: outboxOver(new RpcClient(ingest)),
    matching: matchClientOver(new RpcClient(matching)),
  });
  return {
    connect: (port) =>
      serveRpc<DeliveryRequest, DeliveryAnswer>(port, (request) => handleDeliveryRequest(delivery, request)),
    async stop() {
      await delivery.stop(STOP_GRACE_MS);
      stateReader[Symbol.dispose]();
      index[Symbol.dispose]();
    },
  };
});
