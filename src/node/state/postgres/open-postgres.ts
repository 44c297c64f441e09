import type { ActTimes } from "../../../auth/owners/custody-store.ts";
import { NodeSignals } from "../../../cluster/node-signals.ts";
import { verifyState } from "../../../cluster/postgres/verify-state.ts";
import { createResealLease, createWorkLease } from "../../../cluster/postgres/work-lease.ts";
import { createSharedClock } from "../../../cluster/shared-clock.ts";
import { stateConnections } from "../../../config/http-workers.ts";
import type { Config } from "../../../config/schema.ts";
import type { VerifyConnection } from "../../../db/postgres/driver.ts";
import { PgStats } from "../../../db/postgres/pool-stats.ts";
import { openPgPools, type PgPools, type PgSettings } from "../../../db/postgres/pools.ts";
import { decidedCallSweep, postgresStateDb } from "../../../db/postgres/state-db.ts";
import type { StateClock } from "../../../db/state/state-clock.ts";
import type { StateNode, Sweep } from "../../../db/state/state-db.ts";
import { type RunLimits, runLimitsOf } from "../../../push/store/campaigns/campaign-store.ts";
import { queueLimitsOf } from "../../../webhooks/deliver/queue-limits.ts";
import type { QueueLimits } from "../../../webhooks/store/delivery-publications.ts";
import { createStores, createSweeps, type StateStores } from "../stores.ts";
import type { OpenState, OpenStateDeps, StatePart } from "../thread-state.ts";

/** Opens the state in PostgreSQL for one thread. */
export function openInPostgres(settings: PgSettings, deps: OpenStateDeps): OpenState {
  const { config, link } = deps;
  const { node } = link;
  const signals = new NodeSignals(link.signals);
  const clock = createSharedClock(signals);
  const pools = openPools(settings, {
    ...deps,
    nodeId: node.nodeId,
    verify: verifyState(node, signals),
    stats: new PgStats(link.pgStats),
  });
  const options = {
    clock,
    node,
    limits: queueLimitsOf(config),
    acts: { clock, readyLagSecs: config.upstream.ready_lag_secs },
    runLimits: runLimitsOf(config.send),
  };
  return {
    stores: createPostgresStores(pools, options),
    clock,
    stateClock: clock,
    sweeps: createPostgresSweeps(pools, options),
    maintenanceLease: createWorkLease(pools.main, node, "maintenance"),
    resealLease: (keyId) => createResealLease(pools.main, node, keyId),
    [Symbol.asyncDispose]: () => pools[Symbol.asyncDispose](),
  };
}

/** Opens the pools of a thread. They connect with their first statement. */
export function openPools(
  settings: PgSettings,
  deps: Omit<OpenStateDeps, "link"> & {
    readonly nodeId: string;
    readonly stats: PgStats;
    readonly verify?: VerifyConnection;
  },
): PgPools {
  const { config, part, nodeId, stats, verify, log } = deps;
  return openPgPools({
    settings,
    applicationName: `${config.service.name}/${nodeId}/${part}`,
    connections: connectionsOf(config, part),
    verify,
    stats,
    log,
  });
}

/** Claims and settlements, and the ledger of a campaign, use separate connections, whose commits are not synced. */
function connectionsOf(config: Config, part: StatePart) {
  const share = stateConnections(config)[part];
  switch (part) {
    case "delivery":
      // One half for a group of claims or settlements and a poll; the other for a publication and those that wait for its lock.
      return { main: share / 2, queue: share / 2 };
    case "fanOut":
      return { main: share / 2, ledger: share / 2 };
    default:
      return { main: share };
  }
}

/** The process that uses the stores over PostgreSQL. */
interface PostgresStoresOptions {
  readonly clock: StateClock;
  /** The stores write with the boot and slot of this process. */
  readonly node: StateNode;
  readonly limits: QueueLimits;
  readonly acts?: ActTimes;
  /** Default: the limits of a node that sends. */
  readonly runLimits?: RunLimits;
}

function stateDbOf({ main, queue }: PgPools, { clock, node }: Pick<PostgresStoresOptions, "clock" | "node">) {
  return postgresStateDb({ synced: main, unsynced: queue }, { clock, node });
}

/** The stores over PostgreSQL. */
export function createPostgresStores(pools: PgPools, options: PostgresStoresOptions): StateStores {
  const { clock, node, limits, acts, runLimits } = options;
  return createStores(stateDbOf(pools, options), {
    bootId: node.bootId,
    limits,
    acts,
    runLimits,
    ledgerDb: postgresStateDb({ synced: pools.main, unsynced: pools.ledger }, { clock, node }),
  });
}

/** Creates the sweeps of the state in PostgreSQL. Only one node runs them at a time. */
export function createPostgresSweeps(
  pools: PgPools,
  options: Pick<PostgresStoresOptions, "clock" | "node">,
): Sweep[] {
  return [...createSweeps(stateDbOf(pools, options)), decidedCallSweep(pools.main, options.clock)];
}
