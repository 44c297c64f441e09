import type { Config } from "../../config/schema.ts";
import { indexPath, openIndexReader } from "../../db/index/database.ts";
import { openStateReader, statePath } from "../../db/state/database.ts";
import { RpcClient, serveRpc } from "../../lib/port-rpc.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLogger } from "../../runtime/logger.ts";
import { matchClientOver } from "../../webhooks/match/rpc.ts";
import { outboxOver } from "../../webhooks/publish/outbox-client.ts";
import { type DeliveryRequest, type DeliveryResponse, handleDeliveryRequest } from "../../webhooks/rpc.ts";
import { startDelivery } from "../compose/delivery.ts";
import { createStateStores } from "../state/sqlite-stores.ts";
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
      serveRpc<DeliveryRequest, DeliveryResponse>(port, (request) =>
        handleDeliveryRequest(delivery, request),
      ),
    async stop() {
      await delivery.stop(STOP_GRACE_MS);
      stateReader[Symbol.dispose]();
      index[Symbol.dispose]();
    },
  };
});
