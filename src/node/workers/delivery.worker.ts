import { deliveryGate, NodeSignals } from "../../cluster/node-signals.ts";
import type { Config } from "../../config/schema.ts";
import { indexPath, openIndexReader } from "../../db/index/database.ts";
import { CommitSequence } from "../../db/index/log/commit-sequence.ts";
import type { IngestRpc } from "../../ingest/thread/rpc.ts";
import { connectRpc, serveRpc } from "../../lib/port-rpc.ts";
import { createConfiguredClient } from "../../net/configured-client.ts";
import type { LoopbackTarget } from "../../net/guard.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLogger } from "../../runtime/log/logger.ts";
import { openSpans, SPANS_GRACE_MS } from "../../runtime/trace/open-spans.ts";
import type { MatchRpc } from "../../webhooks/match/rpc.ts";
import type { DeliveryNode } from "../../webhooks/rpc.ts";
import { startDelivery } from "../compose/sending/delivery.ts";
import { openStateStores } from "../state/open-state.ts";
import type { StateLink } from "../state/thread-state.ts";
import { runWorker } from "./worker-entry.ts";

/** The initial message of the delivery worker. */
export interface DeliveryWorkerInit {
  readonly config: Config;
  /** The commits of the index writer. */
  readonly commits: SharedArrayBuffer;
  /** Connects to the writer of the index, which stores the events. */
  readonly ingest: MessagePort;
  readonly state: StateLink;
  /** Connects to the thread that matches events against subscriptions. */
  readonly matching: { readonly live: MessagePort; readonly previews: MessagePort };
  /** See `UrlGuardOptions`. */
  readonly loopbackTargets: readonly LoopbackTarget[];
  /** See `SpanCounts`; undefined while traces are off. */
  readonly spanCounts: SharedArrayBuffer | undefined;
}

/** How long receivers may take to respond after the process starts to shut down. */
const STOP_GRACE_MS = 1_500;

/** Publishes the events of the index as webhook deliveries and sends them. */
runWorker<DeliveryWorkerInit>(
  async ({ config, commits, ingest, state: link, matching, loopbackTargets, spanCounts }, { keepLine }) => {
    const log = createLogger(config, { keep: keepLine });
    const index = openIndexReader(indexPath(config.data.dir));
    index.commits = new CommitSequence(commits);
    index.protocolNames = config.channels.protocol_names;
    const state = await openStateStores({ config, part: "delivery", link, log });
    const spans = await openSpans({ config, log, clock: systemClock }, spanCounts);
    const delivery = await startDelivery({
      common: { config, clock: state.clock, log, spans },
      gate: deliveryGate(new NodeSignals(link.signals)),
      index,
      state: state.stores,
      outbox: connectRpc<IngestRpc>(ingest),
      matching: {
        live: connectRpc<MatchRpc>(matching.live),
        previews: connectRpc<MatchRpc>(matching.previews),
      },
      client: createConfiguredClient(config.net, { loopbackTargets }),
    });
    return {
      connect: (port) => serveRpc<DeliveryNode>(port, delivery),
      async stop() {
        await delivery.stop(STOP_GRACE_MS);
        await spans?.stop(SPANS_GRACE_MS);
        await state[Symbol.asyncDispose]();
        index[Symbol.dispose]();
      },
    };
  },
);
