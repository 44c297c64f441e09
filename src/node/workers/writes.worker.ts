import { connectConfirm } from "../../auth/owners/owners.ts";
import { NodeSignals } from "../../cluster/node-signals.ts";
import type { Config } from "../../config/schema.ts";
import { indexPath, openIndexReader } from "../../db/index/database.ts";
import { CommitSequence } from "../../db/index/log/commit-sequence.ts";
import type { HubRpc } from "../../hub/rpc.ts";
import { connectRpc, serveRpc } from "../../lib/port-rpc.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLogger } from "../../runtime/log/logger.ts";
import type { TokenSignerRpc } from "../../sign-in/tokens/token-signer.ts";
import type { SignersRpc } from "../../signers/rpc.ts";
import type { SignerStatsRpc } from "../../signers/signer-stats.ts";
import type { WritesRpc } from "../../writes/rpc.ts";
import { startNodeSigning } from "../compose/signing/signing.ts";
import { type NodeWrites, startNodeWrites } from "../compose/signing/writes.ts";
import { openStateStores } from "../state/open-state.ts";
import type { StateLink } from "../state/thread-state.ts";
import { runWorker } from "./worker-entry.ts";

/** The initial message of the worker of writes. */
export interface WritesWorkerInit {
  readonly config: Config;
  /** Connects to the hub's thread. */
  readonly hub: MessagePort;
  readonly state: StateLink;
  /** Connects to the thread that follows other nodes; undefined if one node is trusted. */
  readonly upstream: MessagePort | undefined;
  /** The commits of the index writer. */
  readonly commits: SharedArrayBuffer;
}

/** Submits writes of the API to the network. It is independent of HTTP. */
runWorker<WritesWorkerInit>(async ({ config, hub, state: link, commits, upstream }, { keepLine }) => {
  const log = createLogger(config, { subsystem: "writes", keep: keepLine });
  const db = openIndexReader(indexPath(config.data.dir));
  db.protocolNames = config.channels.protocol_names;
  const state = await openStateStores({ config, part: "writes", link, log });
  const signing = startNodeSigning({
    config,
    clock: systemClock,
    stateClock: state.stateClock,
    log,
    db,
    stores: state.stores,
    resealLease: state.resealLease,
    confirm: connectConfirm(upstream),
    submit: (call) => writes.rpc.submit(call),
  });
  const writes: NodeWrites = startNodeWrites({
    config,
    clock: systemClock,
    log,
    db,
    commits: new CommitSequence(commits),
    store: state.stores.writes,
    buckets: state.stores.buckets,
    audit: state.stores.audit,
    hub: connectRpc<HubRpc>(hub),
    signals: new NodeSignals(link.signals),
    signers: signing.signers,
  });
  return {
    connect: (port) =>
      serveRpc<WritesRpc & SignersRpc & SignerStatsRpc & TokenSignerRpc>(port, {
        ...writes.rpc,
        ...signing.rpc,
      }),
    async stop() {
      signing.stop();
      await writes.stop();
      await state[Symbol.asyncDispose]();
      db[Symbol.dispose]();
    },
  };
});
