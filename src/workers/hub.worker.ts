import { createChainChecker } from "../chain/chain-checker.ts";
import type { Config } from "../config/schema.ts";
import { startHubServer } from "../hub/server.ts";
import { indexPath, openIndexReader } from "../index/database.ts";
import { networkOf } from "../ingest/network.ts";
import { type IngestAnswer, type IngestRequest, submitRecords } from "../ingest/rpc.ts";
import { RpcClient } from "../lib/port-rpc.ts";
import { systemClock } from "../process/clock.ts";
import { createLogger } from "../process/logger.ts";
import { version } from "../version.ts";
import { runWorker } from "./worker-entry.ts";

/** What the hub worker starts with; `ingest` leads to the writer. */
export interface HubWorkerInit {
  readonly config: Config;
  readonly ingest: MessagePort;
}

/** Serves gRPC: decodes, validates and forwards to the writer, all off the threads of the reads and of the merge. */
runWorker<HubWorkerInit>(async ({ config, ingest }) => {
  const log = createLogger(config, { subsystem: "hub" });
  const db = openIndexReader(indexPath(config.data.dir));
  const client = new RpcClient<IngestRequest, IngestAnswer>(ingest);
  const server = await startHubServer(
    {
      db,
      network: networkOf(config.protocol.network),
      clock: systemClock,
      version,
      admin: config.hub.admin,
      chain: createChainChecker({ db, l1RpcUrl: config.chain.l1_rpc_url }),
      submit: (records) => submitRecords(client, records),
      onFault: (method, err) => log.error({ err, method }, "a gRPC call failed"),
    },
    { host: config.hub.host, port: config.hub.port },
  );
  return {
    facts: { port: server.port },
    async stop() {
      await server.stop(config.http.shutdown_grace_secs * 1000);
      db[Symbol.dispose]();
    },
  };
});
