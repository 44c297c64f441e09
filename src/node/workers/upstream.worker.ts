import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { followedFids } from "../../config/files/fid-file.ts";
import type { Config } from "../../config/schema.ts";
import { upstreamUrls } from "../../config/upstream-urls.ts";
import { indexPath, openIndexReader } from "../../db/index/database.ts";
import { IndexFullError } from "../../ingest/size-bound.ts";
import type { IngestRpc } from "../../ingest/thread/rpc.ts";
import { connectRpc, serveRpc } from "../../lib/port-rpc.ts";
import { createEthBlockNumber, createEthCall } from "../../net/eth-call.ts";
import { engineSchedule } from "../../protocol/network/engine-versions.ts";
import { networkOf } from "../../protocol/network/network.ts";
import { nameServerOf } from "../../protocol/validate/username-proof.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLogger } from "../../runtime/log/logger.ts";
import { createValidatorSource } from "../../upstream/chain/validator-source.ts";
import { createUpstreamFaultLog } from "../../upstream/follow/fault-log.ts";
import { startFollower } from "../../upstream/follow/follower.ts";
import type { UpstreamRpc } from "../../upstream/follow/progress.ts";
import { DISCOVER_EVERY_MS } from "../../upstream/peers/discover.ts";
import { publicAddressOf } from "../../upstream/peers/network-place.ts";
import { startVerifierThreads } from "../verifier-threads.ts";
import { runWorker } from "./worker-entry.ts";

/** The initial message of the upstream worker. */
export interface UpstreamWorkerInit {
  readonly config: Config;
  /** Connects to the writer of the index. */
  readonly ingest: MessagePort;
  /** The entry file of verifier threads. */
  readonly verifierUrl: string;
}

/** Ends this thread, and with it the process, because a thread that it depends on has failed. */
function endThread(reason: string): void {
  queueMicrotask(() => {
    throw new Error(`a verifier thread failed: ${reason}`);
  });
}

/** Returns how many bytes the index may have: the free space of its disk, within its limit. */
async function roomFor({ data, index }: Config): Promise<number> {
  const { bavail, bsize } = await statfs(data.dir);
  return Math.min(bavail * bsize, index.max_bytes || Number.POSITIVE_INFINITY);
}

/** Follows another node: fetches and streams its records, validates them and submits the changes to the writer. */
runWorker<UpstreamWorkerInit>(async ({ config, ingest, verifierUrl }, { keepLine }) => {
  const log = createLogger(config, { subsystem: "upstream", keep: keepLine });
  const reader = openIndexReader(indexPath(config.data.dir));
  const client = connectRpc<IngestRpc>(ingest);
  const faults = createUpstreamFaultLog({ log, clock: systemClock });
  const network = networkOf(config.protocol.network);
  const follower = startFollower({
    urls: upstreamUrls(config),
    db: reader,
    writer: {
      async apply(batch) {
        if (!(await client.relay(batch))) throw new IndexFullError();
      },
      buildStep: client.buildStep,
    },
    hasRoom: client.hasRoom,
    roomBytes: () => roomFor(config),
    network,
    schedule: engineSchedule(network, config.protocol.engine_versions),
    nameServer: nameServerOf(network),
    verification:
      config.trust.level === "node"
        ? undefined
        : {
            validators: createValidatorSource(config, (cause) =>
              faults.fault("the validators file cannot be read; the sets read before still apply", cause),
            ),
            onUnknownSet: config.trust.on_unknown_set,
            comparesRoots: config.trust.level === "roots",
          },
    forksDir: join(config.data.dir, "forks"),
    registries:
      config.trust.events === "rpc"
        ? {
            call: createEthCall(config.chain.op_rpc_url),
            blockNumber: createEthBlockNumber(config.chain.op_rpc_url),
          }
        : undefined,
    clock: systemClock,
    ...(config.upstream.discover && {
      discovery: { everyMs: DISCOVER_EVERY_MS, publicAddress: (host) => publicAddressOf(host) },
    }),
    fids: followedFids(config.upstream),
    logsHubEvents: config.hub.reads,
    calls: { ...config.upstream, bulkFrom: config.upstream.bulk_from },
    startVerifiers: (context) => startVerifierThreads(config, context, verifierUrl, endThread),
    onHealing: ({ outcome, ...account }) =>
      outcome === "healed"
        ? log.info(account, "An account that differed from the signed state was repaired")
        : log.warn(account, "An account differs from the signed state, and no upstream could repair it"),
    onFault: faults.fault,
    onPeerError: faults.peer,
    onRefused: faults.refused,
    onUnknown: faults.unknown,
  });
  return {
    connect: (port) =>
      serveRpc<UpstreamRpc>(port, {
        progress: () => follower.progress(),
        confirmCustody: (fid, lane) => follower.confirmCustody(fid, lane),
        confirmKey: (fid, key, lane) => follower.confirmKey(fid, key, lane),
      }),
    async stop() {
      await follower.stop();
      reader[Symbol.dispose]();
    },
  };
});
