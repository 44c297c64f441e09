import type { Config } from "../../config/schema.ts";
import { indexPath, openIndexReader } from "../../db/index/database.ts";
import { createChainChecker } from "../../hub/chain/chain-checker.ts";
import { startHubServer } from "../../hub/server.ts";
import type { HubUpstream } from "../../hub/service.ts";
import { SubmissionCheck } from "../../hub/submission-check.ts";
import { WriteThrough } from "../../hub/write-through.ts";
import { networkOf } from "../../ingest/network.ts";
import type { IngestRequest, IngestResponse } from "../../ingest/rpc.ts";
import { Submitter } from "../../ingest/submitter.ts";
import { RpcClient } from "../../lib/port-rpc.ts";
import { systemClock } from "../../runtime/clock.ts";
import { processDescriptors } from "../../runtime/descriptors.ts";
import { createLogger, type Logger } from "../../runtime/logger.ts";
import { connectUpstream } from "../../upstream/connection.ts";
import type { UpstreamProgress } from "../../upstream/progress.ts";
import { type UpstreamRequest, upstreamProgress } from "../../upstream/rpc.ts";
import { version } from "../../version.ts";
import { runWorker } from "./worker-entry.ts";

/** What the hub worker starts with; `ingest` leads to the writer, `upstream` to the worker that follows, if any. */
export interface HubWorkerInit {
  readonly config: Config;
  readonly ingest: MessagePort;
  readonly upstream: MessagePort | undefined;
}

/** Serves gRPC: decodes, validates and forwards to the writer, all off the threads of the reads and of the merge. */
runWorker<HubWorkerInit>(async ({ config, ingest, upstream }) => {
  const log = createLogger(config, { subsystem: "hub" });
  const db = openIndexReader(indexPath(config.data.dir));
  const submitter = new Submitter(new RpcClient<IngestRequest, IngestResponse>(ingest));
  const network = networkOf(config.protocol.network);
  const check = new SubmissionCheck({
    db,
    network,
    clock: systemClock,
    upstreamDecides: upstream !== undefined,
  });
  const following = upstream && forwardTo(upstream, check, config, log);
  const server = await startHubServer(
    {
      db,
      network,
      clock: systemClock,
      check,
      version,
      admin: config.hub.admin,
      chain: createChainChecker({ db, l1RpcUrl: config.chain.l1_rpc_url }),
      submit: (records) => submitter.submit(records),
      onFault: (method, err) => log.error({ err, method }, "a gRPC call failed"),
      upstream: following,
    },
    // -1 is any free port, since 0 turns the hub off.
    { host: config.hub.host, port: Math.max(config.hub.port, 0) },
    { descriptors: processDescriptors() },
  );
  return {
    facts: { port: server.port },
    async stop() {
      await server.stop(config.http.shutdown_grace_secs * 1000);
      following?.close();
      db[Symbol.dispose]();
    },
  };
});

/** The way of messages to the node that is followed; `port` leads to the worker that follows it. */
function forwardTo(
  port: MessagePort,
  check: SubmissionCheck,
  config: Config,
  log: Logger,
): HubUpstream & { close(): void } {
  const { url, username, password } = config.upstream;
  const connection = connectUpstream(url);
  const follower = new RpcClient<UpstreamRequest, UpstreamProgress>(port);
  return {
    submits: new WriteThrough({
      client: connection,
      username,
      password,
      check,
      clock: systemClock,
      onLoginRefused: () =>
        log.error("The upstream refuses upstream.username and upstream.password; messages are not forwarded"),
    }),
    shards: async () => (await upstreamProgress(follower)).shards,
    close: () => connection.close(),
  };
}
