import { statSync } from "node:fs";
import { createAdmission, type SharedAdmission } from "../../../admission/admission.ts";
import { createClientAddresses } from "../../../admission/client-address.ts";
import { followedFids } from "../../../config/files/fid-file.ts";
import type { Config } from "../../../config/schema.ts";
import { upstreamUrls } from "../../../config/upstream-urls.ts";
import { indexPath, openIndexReader } from "../../../db/index/database.ts";
import { CommitSequence } from "../../../db/index/log/commit-sequence.ts";
import { createSubscribers } from "../../../hub/events/subscribers.ts";
import type { HubUpstream } from "../../../hub/own-methods.ts";
import { createBlockRelay } from "../../../hub/reads/block-relay.ts";
import { PinnedIndex } from "../../../hub/replication/pinned-index.ts";
import { createReplication } from "../../../hub/replication/replication-service.ts";
import { createHubServer, type HubServer } from "../../../hub/server.ts";
import type { HubDeps } from "../../../hub/service.ts";
import { createChainChecker } from "../../../hub/submit/chain-checker.ts";
import { connectFollowedNodes, type FollowedNodes } from "../../../hub/submit/followed-nodes.ts";
import { SubmissionCheck } from "../../../hub/submit/submission-check.ts";
import { WriteThrough } from "../../../hub/submit/write-through.ts";
import { INDEX_FULL } from "../../../ingest/size-bound.ts";
import type { IngestRpc } from "../../../ingest/thread/rpc.ts";
import { Submitter } from "../../../ingest/thread/submitter.ts";
import { connectRpc } from "../../../lib/port-rpc.ts";
import { networkOf } from "../../../protocol/network/network.ts";
import { rejection } from "../../../protocol/rejection.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { createLogger, type Logger } from "../../../runtime/log/logger.ts";
import type { KeepLine } from "../../../runtime/log/recent-lines.ts";
import { processDescriptors } from "../../../runtime/process.ts";
import { openSpans, SPANS_GRACE_MS, spansOfReads } from "../../../runtime/trace/open-spans.ts";
import { createUpstreamClient } from "../../../upstream/calls/client.ts";
import type { UpstreamRpc } from "../../../upstream/follow/progress.ts";
import { createBuildCheck } from "../../../upstream/positions.ts";
import { version } from "../../../version.ts";
import { connectionCaps } from "../../connection-caps.ts";
import { notSetUpReason } from "../../watch/checks.ts";
import { createNodeHubReads } from "./hub-reads.ts";

/** The initial message of the hub worker; `ingest` connects to the writer of the index, `upstream` to the follower, if any. */
export interface HubInit {
  readonly config: Config;
  /** The commits of the index writer. */
  readonly commits: SharedArrayBuffer;
  readonly admission: SharedAdmission;
  readonly ingest: MessagePort;
  readonly upstream: MessagePort | undefined;
  /** See `SpanCounts`; undefined while traces are off. */
  readonly spanCounts: SharedArrayBuffer | undefined;
}

/** Opens the gRPC service: it decodes and validates messages and forwards them to the writer. */
export async function openHub(init: HubInit, keepLine: KeepLine): Promise<HubServer> {
  const { config, commits, admission, ingest, upstream } = init;
  const log = createLogger(config, { subsystem: "hub", keep: keepLine });
  const db = openIndexReader(indexPath(config.data.dir));
  const sequence = new CommitSequence(commits);
  db.commits = sequence;
  const spans = await openSpans({ config, log, clock: systemClock }, init.spanCounts);
  if (spans) db.traceRead = spansOfReads(spans);
  const network = networkOf(config.protocol.network);
  const unchosen = notSetUpReason(config, db);
  const notSetUp = unchosen === undefined ? undefined : rejection("unavailable", unchosen);
  const check = new SubmissionCheck({
    db,
    network,
    clock: systemClock,
    upstreamDecides: upstream !== undefined,
    refusal: () => (sequence.isFull ? INDEX_FULL : notSetUp),
  });
  const following = upstream && forwardTo(upstream, check, config, log);
  const relaysBlocks =
    config.hub.reads && config.hub.relay_blocks && followedFids(config.upstream) === undefined;
  const reads = config.hub.reads ? createNodeHubReads(db, config) : undefined;
  const writer = connectRpc<IngestRpc>(ingest);
  const subscribers =
    reads &&
    createSubscribers({
      reads,
      awaitEvents: (afterSeq) => writer.awaitHubEvents(afterSeq),
      heartbeat: upstream === undefined ? () => writer.heartbeat() : undefined,
      maxSubscribers: connectionCaps(config, processDescriptors()).subscribers,
      maxPerAddress: config.hub.max_subscribers_per_ip,
      onFault: (err) => log.error({ err }, "A block without events could not be written"),
    });
  const submitter = new Submitter(writer);
  const { budgets } = createAdmission(admission);
  const pinned =
    following && relaysBlocks && config.hub.replication
      ? pinnedIndexOf(config, following.nodes, (err) =>
          log.warn({ err }, "A snapshot of the index could not be created"),
        )
      : undefined;
  const deps: HubDeps = {
    db,
    network,
    clock: systemClock,
    check,
    version,
    admin: config.hub.admin,
    clients: createClientAddresses(config.http),
    budgets,
    chain: createChainChecker({ db, l1RpcUrl: config.chain.l1_rpc_url }),
    submit: (records) => submitter.submit(records),
    onFault: (method, err) => log.error({ err, method }, "a gRPC call failed"),
    ...(following === undefined ? {} : { upstream: following }),
    blocks:
      following && relaysBlocks ? createBlockRelay(following.nodes.active, budgets.blockRelays) : undefined,
    reads,
    subscribers,
    replication: pinned && createReplication(pinned),
    unavailableReason: following && createBuildCheck(db),
    spans,
  };
  const server = createHubServer(deps);
  return {
    ...server,
    async stop(graceMs) {
      await server.stop(graceMs);
      await spans?.stop(SPANS_GRACE_MS);
      pinned?.close();
      following?.close();
      db[Symbol.dispose]();
    },
  };
}

const CHUNK_TIMEOUT_MS = 10_000;

/** Holds a proven state of the index for nodes that fill their index from it. */
function pinnedIndexOf(config: Config, nodes: FollowedNodes, onFault: (cause: unknown) => void): PinnedIndex {
  const path = indexPath(config.data.dir);
  const timings = { callTimeoutMs: CHUNK_TIMEOUT_MS, stallMs: CHUNK_TIMEOUT_MS };
  return new PinnedIndex({
    open: () => openIndexReader(path),
    network: networkOf(config.protocol.network),
    async chunkOf(shard, height) {
      const client = createUpstreamClient(nodes.active(), timings, AbortSignal.timeout(CHUNK_TIMEOUT_MS));
      return (await client.signedChunks(shard, height, height + 1))[0];
    },
    logBytes: () => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    onFault,
  });
}

/** Forwards messages to the upstream; `port` connects to the worker that follows it. */
function forwardTo(
  port: MessagePort,
  check: SubmissionCheck,
  config: Config,
  log: Logger,
): HubUpstream & { readonly nodes: FollowedNodes; close(): void } {
  const { username, password, contact } = config.upstream;
  const follower = connectRpc<UpstreamRpc>(port);
  const nodes = connectFollowedNodes({
    urls: upstreamUrls(config),
    contact,
    states: async () => (await follower.progress()).upstreams,
  });
  return {
    nodes,
    submits: new WriteThrough({
      target: nodes.first,
      username,
      password,
      check,
      clock: systemClock,
      onLoginRefused: () =>
        log.error("The upstream refuses upstream.username and upstream.password; messages are not forwarded"),
    }),
    isReady: (timeoutMs) =>
      // gRPC deadlines use the machine's clock.
      new Promise((resolve) =>
        nodes.first().client.waitForReady(Date.now() + timeoutMs, (fault) => resolve(!fault)),
      ),
    shards: async () => (await follower.progress()).shards,
    close: nodes.close,
  };
}
