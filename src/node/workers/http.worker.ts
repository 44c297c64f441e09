import { Registry } from "prom-client";
import { createAdmission, type SharedAdmission } from "../../admission/admission.ts";
import { connectConfirm } from "../../auth/owners/owners.ts";
import { NodeSignals } from "../../cluster/node-signals.ts";
import { serviceNames } from "../../config/names.ts";
import type { Config } from "../../config/schema.ts";
import { connectConsole } from "../../console/console-rpc.ts";
import type { DemoRpc } from "../../console/demo/services.ts";
import { loadBuild } from "../../console/load-build.ts";
import { indexPath, openIndexReader } from "../../db/index/database.ts";
import { CommitSequence } from "../../db/index/log/commit-sequence.ts";
import { PAGE_CACHE_KIB } from "../../db/sqlite/open.ts";
import type { IngestRpc } from "../../ingest/thread/rpc.ts";
import { connectRpc, serveRpc } from "../../lib/port-rpc.ts";
import { loadOnce } from "../../lib/promises.ts";
import type { LoopbackTarget } from "../../net/guard.ts";
import type { FanOut } from "../../push/fan-out/fan-out.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLogger } from "../../runtime/log/logger.ts";
import { processDescriptors } from "../../runtime/process.ts";
import { openSpans, SPANS_GRACE_MS, spansOfReads } from "../../runtime/trace/open-spans.ts";
import type { MatchRpc } from "../../webhooks/match/rpc.ts";
import type { DeliveryNode } from "../../webhooks/rpc.ts";
import { createForYouFeed, type ForYouRpc, ranksForViewers } from "../compose/for-you.ts";
import { createNodeHttp } from "../compose/http.ts";
import type { PreviewsLink } from "../compose/previews.ts";
import { connectStreamSlots, createNodeStreams } from "../compose/sending/streams.ts";
import { connectWrites } from "../compose/signing/signers.ts";
import { connectNodeOps, type HttpWorkerRpc } from "../node-ops.ts";
import { openStateStores } from "../state/open-state.ts";
import type { StateLink } from "../state/thread-state.ts";
import { runWorker } from "./worker-entry.ts";

/** The initial message of an HTTP worker. */
export interface HttpWorkerInit {
  readonly config: Config;
  /** Connect to the main thread, for the operator's endpoints and the console. */
  readonly node: MessagePort;
  readonly console: MessagePort | undefined;
  readonly fanOut: MessagePort;
  readonly delivery: MessagePort;
  /** Connects to the hub's thread. */
  readonly hub: MessagePort;
  /** Connects to the writer of the index, which announces new events. */
  readonly ingest: MessagePort;
  /** Connect to the matching thread, for live streams and for streams that read earlier events. */
  readonly matching: { readonly live: MessagePort; readonly replays: MessagePort };
  /** Connects to the thread that ranks casts. */
  readonly ranking: MessagePort;
  /** Connects to the main thread, which counts streams. */
  readonly streamSlots: MessagePort;
  /** Connects to the thread with the receivers of a demo network; undefined on any other node. */
  readonly demo: { readonly services: MessagePort; readonly targets: readonly LoopbackTarget[] } | undefined;
  /** Connects to the thread that fetches previews; undefined while they are off. */
  readonly previews: PreviewsLink | undefined;
  /** Connects to the thread for writes. */
  readonly writes: MessagePort;
  /** The keys from which tokens of approval links are derived; empty without a master key. */
  readonly tokenKeys: readonly Uint8Array[];
  /** The commits of the index writer. */
  readonly commits: SharedArrayBuffer;
  /** What clients hold and spend at all HTTP workers and the hub. */
  readonly admission: SharedAdmission;
  /** See `SpanCounts`; undefined while traces are off. */
  readonly spanCounts: SharedArrayBuffer | undefined;
  readonly state: StateLink;
  /** Connects to the thread that follows other nodes; undefined if one node is trusted. */
  readonly upstream: MessagePort | undefined;
  /** Connects to the first HTTP worker, which loads the files of the console for all; undefined in that worker. */
  readonly firstWorker: MessagePort | undefined;
  /** Whether other workers accept connections on the same port. */
  readonly sharesPort: boolean;
}

/** Serves the HTTP interface. Any number of these workers share one port. Their shared state is in the state database. */
runWorker<HttpWorkerInit>(async (init, { keepLine }) => {
  const { config, commits, node, fanOut, delivery, hub, writes, state: link, sharesPort } = init;
  const signals = new NodeSignals(link.signals);
  const log = createLogger(config, { keep: keepLine });
  const metrics = { registry: new Registry(), prefix: serviceNames(config.service.name).metricPrefix };
  const db = openIndexReader(indexPath(config.data.dir), { cacheKib: PAGE_CACHE_KIB.indexServer });
  db.commits = new CommitSequence(commits);
  db.protocolNames = config.channels.protocol_names;
  const spans = await openSpans({ config, log, clock: systemClock }, init.spanCounts);
  if (spans) db.traceRead = spansOfReads(spans);
  const state = await openStateStores({ config, part: "http", link, log });
  const stopping = new AbortController();
  const writer = connectRpc<IngestRpc>(init.ingest);
  const streams = config.stream.enabled
    ? createNodeStreams({
        common: { config, log, clock: systemClock },
        db,
        bannedAmong: state.stores.moderation.bannedAmong,
        matching: {
          live: connectRpc<MatchRpc>(init.matching.live),
          replays: connectRpc<MatchRpc>(init.matching.replays),
        },
        awaitEvents: (afterSeq) => writer.awaitEvents(afterSeq),
        slots: connectStreamSlots(init.streamSlots),
      })
    : undefined;
  let listeningUrl: string | undefined;
  const firstWorker = init.firstWorker && connectRpc<HttpWorkerRpc>(init.firstWorker);
  const loadWebBuild = firstWorker ? () => firstWorker.webBuild() : loadOnce(loadBuild);
  const http = createNodeHttp({
    common: { config, log, metrics, clock: systemClock, spans },
    db,
    commits: db.commits,
    state: state.stores,
    fanOut: connectRpc<FanOut>(fanOut),
    delivery: connectRpc<DeliveryNode>(delivery),
    hub,
    writesThread: connectWrites(writes),
    previews: init.previews,
    demo: init.demo && { services: connectRpc<DemoRpc>(init.demo.services), targets: init.demo.targets },
    tokenKeys: init.tokenKeys,
    listeningUrl: () => listeningUrl,
    forYou: ranksForViewers(config)
      ? createForYouFeed({
          ranking: connectRpc<ForYouRpc>(init.ranking),
          clock: systemClock,
          onFault: (err) => log.error({ err }, "the feed for viewers could not be ranked"),
        })
      : undefined,
    ops: connectNodeOps(node),
    confirm: connectConfirm(init.upstream),
    loadWebBuild,
    console: init.console && connectConsole(init.console),
    stateNode: link.node,
    stateClock: state.stateClock,
    isPaused: (name) => signals.isPaused(name),
    streams,
    signals,
    admission: createAdmission(init.admission),
    descriptors: processDescriptors(),
    stopping: stopping.signal,
  });
  const { url, port } = http.listen({ sharesPort });
  listeningUrl = url;
  return {
    facts: { url, port },
    connect: (port) =>
      serveRpc<HttpWorkerRpc>(port, {
        webBuild: loadWebBuild,
        figures: () => http.figures(),
        takeRequests: () => http.takeRequests(),
        metrics: () => metrics.registry.getMetricsAsJSON(),
        drain(ms) {
          http.drain();
          streams?.drain(ms);
        },
      }),
    async stop() {
      stopping.abort();
      streams?.stop();
      await http.stop();
      await spans?.stop(SPANS_GRACE_MS);
      await state[Symbol.asyncDispose]();
      db[Symbol.dispose]();
    },
  };
});
