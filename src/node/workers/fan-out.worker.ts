import { connectConfirm } from "../../auth/owners/owners.ts";
import { NodeSignals, sendPermissionOf } from "../../cluster/node-signals.ts";
import type { Config } from "../../config/schema.ts";
import { isFollowing } from "../../config/upstream-urls.ts";
import { indexPath, openIndexReader } from "../../db/index/database.ts";
import { serveRpc } from "../../lib/port-rpc.ts";
import { createConfiguredClient } from "../../net/configured-client.ts";
import type { LoopbackTarget } from "../../net/guard.ts";
import type { FanOut } from "../../push/fan-out/fan-out.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLogger } from "../../runtime/log/logger.ts";
import { openSpans, SPANS_GRACE_MS } from "../../runtime/trace/open-spans.ts";
import { createFillCheck } from "../../upstream/positions.ts";
import { createFanOut } from "../compose/sending/fan-out.ts";
import { openStateStores } from "../state/open-state.ts";
import type { StateLink } from "../state/thread-state.ts";
import { runWorker } from "./worker-entry.ts";

/** The initial message of the fan-out worker. */
export interface FanOutWorkerInit {
  readonly config: Config;
  readonly state: StateLink;
  /** Connects to the thread that follows other nodes; undefined if one node is trusted. */
  readonly upstream: MessagePort | undefined;
  /** See `UrlGuardOptions`. */
  readonly loopbackTargets: readonly LoopbackTarget[];
  /** See `SpanCounts`; undefined while traces are off. */
  readonly spanCounts: SharedArrayBuffer | undefined;
}

/** How long clients may take to respond after the process starts to shut down. */
const STOP_GRACE_MS = 1_500;

/** Runs notification campaigns outside the threads that serve reads. */
runWorker<FanOutWorkerInit>(async (init, { keepLine }) => {
  const { config, state: link, upstream, loopbackTargets, spanCounts } = init;
  const log = createLogger(config, { keep: keepLine });
  const index = openIndexReader(indexPath(config.data.dir));
  const state = await openStateStores({ config, part: "fanOut", link, log });
  const signals = new NodeSignals(link.signals);
  const permission = sendPermissionOf(signals);
  const isFilled = isFollowing(config) ? createFillCheck(index) : () => true;
  const spans = await openSpans({ config, log, clock: systemClock }, spanCounts);
  const fanOut = createFanOut({
    common: { config, clock: systemClock, log, spans },
    permission: () => (isFilled() ? permission() : "unfilled"),
    isBehind: () => signals.isBehind,
    confirm: connectConfirm(upstream),
    leaseNumber: () => signals.leaseNumber,
    index,
    state: state.stores,
    client: createConfiguredClient(config.net, { loopbackTargets }),
  });
  return {
    connect: (port) => serveRpc<FanOut>(port, fanOut),
    async stop() {
      await fanOut.stop(STOP_GRACE_MS);
      await spans?.stop(SPANS_GRACE_MS);
      await state[Symbol.asyncDispose]();
      index[Symbol.dispose]();
    },
  };
});
