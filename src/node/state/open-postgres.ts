import { NodeSignals } from "../../cluster/node-signals.ts";
import { createOffsetClock } from "../../cluster/offset-clock.ts";
import { createResealLease } from "../../cluster/postgres/reseal-lease.ts";
import { verifyState } from "../../cluster/postgres/verify-state.ts";
import { createWorkLease } from "../../cluster/postgres/work-lease.ts";
import type { Config } from "../../config/schema.ts";
import { stateConnections } from "../../config/state-connections.ts";
import type { VerifyConnection } from "../../db/postgres/driver.ts";
import { PgStats } from "../../db/postgres/pool-stats.ts";
import { openPgPools, type PgPools, type PgSettings } from "../../db/postgres/pools.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import { runLimitsOf } from "../../push/store/campaign-store.ts";
import { systemClock } from "../../runtime/clock.ts";
import { maxQueuedOf } from "../../webhooks/deliver/queue-limits.ts";
import { createPostgresStores, createPostgresSweeps } from "./postgres-stores.ts";
import type { OpenState, OpenStateDeps, StateLink, StatePart } from "./thread-state.ts";

/** Opens the state in PostgreSQL for one thread. */
export function openInPostgres(settings: PgSettings, deps: OpenStateDeps): OpenState {
  const { config, link } = deps;
  const { node, signals } = link;
  const pools = openPools(settings, {
    ...deps,
    nodeId: node.nodeId,
    verify: verifyState(node, new NodeSignals(signals)),
    stats: new PgStats(link.pgStats),
  });
  const options = {
    clock: stateClockOf(link),
    node,
    limits: { maxQueued: maxQueuedOf(config.webhooks) },
    runLimits: runLimitsOf(config.send),
  };
  return {
    stores: createPostgresStores(pools, options),
    clock: options.clock,
    sweeps: createPostgresSweeps(pools, options),
    maintenanceLease: createWorkLease(pools.main, node, "maintenance"),
    resealLease: (keyId) => createResealLease(pools.main, node, keyId),
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
