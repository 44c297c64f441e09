import { NodeSignals } from "../../cluster/node-signals.ts";
import { createOffsetClock } from "../../cluster/offset-clock.ts";
import { createResealLease } from "../../cluster/postgres/reseal-lease.ts";
import { createWorkLease, type WorkLease } from "../../cluster/postgres/work-lease.ts";
import type { Config } from "../../config/schema.ts";
import { stateConnections } from "../../config/state-connections.ts";
import { PgStats } from "../../db/postgres/pool-stats.ts";
import { openPgPools, type PgPools, type PgSettings } from "../../db/postgres/pools.ts";
import { openStateReader, statePath } from "../../db/state/database.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import type { StateNode } from "../../db/state/state-node.ts";
import type { Sweep } from "../../db/state/sweep.ts";
import { connectRpc } from "../../lib/port-rpc.ts";
import { runLimitsOf } from "../../push/store/campaign-store.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/logger.ts";
import { maxQueuedOf } from "../../webhooks/deliver/queue-limits.ts";
import { postgresSettings } from "./postgres-settings.ts";
import { createPostgresStores, createPostgresSweeps } from "./postgres-stores.ts";
import { createStateStores, createStateSweeps } from "./sqlite-stores.ts";
import type { StateStores } from "./state-stores.ts";
import { createStateWriterClient } from "./writer-client.ts";
import type { StateWriterRpc } from "./writer-rpc.ts";

/** What a thread needs to open the state. It can be sent to the thread. */
export interface StateLink {
  readonly node: StateNode;
  /** Those of `NodeSignals`. */
  readonly signals: SharedArrayBuffer;
  /** Those of `PgStats`; undefined with state.db. */
  readonly pgStats: SharedArrayBuffer | undefined;
  /** Connects to the writer of state.db; undefined with PostgreSQL, where every thread writes itself. */
  readonly writer: MessagePort | undefined;
}

/** The parts of a node that use the state, with different shares of the connections to PostgreSQL. */
export type StatePart = "main" | "ingest" | "maintenance" | "delivery" | "fanOut" | "writes" | "http";

/** The state as one thread sees it. */
export interface OpenState extends AsyncDisposable {
  readonly stores: StateStores;
  /** The time by which the thread decides what is due: PostgreSQL's, or else the machine's. */
  readonly clock: Clock;
  /** For maintenance alone. */
  readonly sweeps: readonly Sweep[];
  /** Held by the one node that sweeps; undefined with state.db. */
  readonly maintenanceLease: WorkLease | undefined;
  /** See `createResealLease`; undefined with state.db. */
  readonly resealLease: ((keyId: string) => WorkLease) | undefined;
}

export interface OpenStateDeps {
  readonly config: Config;
  readonly part: StatePart;
  readonly link: StateLink;
  readonly log: Logger;
}

/** Opens the state for one thread: state.db with its writer on another thread, or PostgreSQL. */
export function openStateStores(deps: OpenStateDeps): OpenState {
  const settings = postgresSettings(deps.config);
  return settings ? openInPostgres(settings, deps) : openInSqlite(deps);
}

function openInSqlite({ config, link }: OpenStateDeps): OpenState {
  if (!link.writer) throw new Error("state.db has a writer");
  const reader = openStateReader(statePath(config.data.dir));
  const callWriter = createStateWriterClient(connectRpc<StateWriterRpc>(link.writer));
  return {
    stores: createStateStores(reader, callWriter),
    clock: systemClock,
    sweeps: createStateSweeps(callWriter),
    maintenanceLease: undefined,
    resealLease: undefined,
    [Symbol.asyncDispose]: async () => reader[Symbol.dispose](),
  };
}

function openInPostgres(settings: PgSettings, deps: OpenStateDeps): OpenState {
  const { config, link } = deps;
  const pools = openPools(settings, {
    ...deps,
    nodeId: link.node.nodeId,
    stats: new PgStats(link.pgStats),
  });
  const options = {
    clock: stateClockOf(link),
    node: link.node,
    limits: { maxQueued: maxQueuedOf(config.webhooks) },
    runLimits: runLimitsOf(config.send),
  };
  return {
    stores: createPostgresStores(pools, options),
    clock: options.clock,
    sweeps: createPostgresSweeps(pools, options),
    maintenanceLease: createWorkLease(pools.main, link.node, "maintenance"),
    resealLease: (keyId) => createResealLease(pools.main, link.node, keyId),
    [Symbol.asyncDispose]: () => pools[Symbol.asyncDispose](),
  };
}

/** The clock of a state in PostgreSQL. */
export function stateClockOf({ signals }: StateLink): StateClock {
  return createOffsetClock({ clock: systemClock, signals: new NodeSignals(signals) });
}

/** Opens the pools of a thread. They connect with their first statement. */
export function openPools(
  settings: PgSettings,
  deps: Omit<OpenStateDeps, "link"> & { readonly nodeId: string; readonly stats: PgStats },
): PgPools {
  const { config, part, nodeId, stats, log } = deps;
  return openPgPools({
    settings,
    applicationName: `${config.service.name}/${nodeId}/${part}`,
    connections: connectionsOf(config, part),
    stats,
    log,
  });
}

/** Claims and settlements, and the ledger of a campaign, have connections of their own, whose commits are not synced. */
function connectionsOf(config: Config, part: StatePart) {
  const share = stateConnections(config)[part];
  switch (part) {
    case "delivery":
      // A group of claims or settlements and a poll; a publication, and what its lock keeps waiting.
      return { main: share / 2, queue: share / 2 };
    case "fanOut":
      return { main: share / 2, ledger: share / 2 };
    default:
      return { main: share };
  }
}
