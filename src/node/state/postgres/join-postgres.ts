import { createCustodies } from "../../../auth/owners/custody-store.ts";
import { createIncidents } from "../../../checks/incident-store.ts";
import { createOwnerFindings } from "../../../checks/owners/owner-findings.ts";
import { createPauses } from "../../../cluster/pauses.ts";
import { startMembership } from "../../../cluster/postgres/membership.ts";
import { createWorkLease } from "../../../cluster/postgres/work-lease.ts";
import { createSharedClock } from "../../../cluster/shared-clock.ts";
import { comparedSettings } from "../../../cluster/shared-settings.ts";
import { followedFids } from "../../../config/files/fid-file.ts";
import { isFollowing } from "../../../config/upstream-urls.ts";
import { schemaVersion } from "../../../db/postgres/migrate.ts";
import { PgStats } from "../../../db/postgres/pool-stats.ts";
import type { PgPools, PgSettings } from "../../../db/postgres/pools.ts";
import { postgresStateDb, postgresTaskDb } from "../../../db/postgres/state-db.ts";
import { createNoticeStore } from "../../../notices/store/notice-store.ts";
import { version } from "../../../version.ts";
import { refuseMissingKeys } from "../../signers/master-keys.ts";
import type { MainState, MainStateDeps } from "../thread-state.ts";
import { openPools } from "./open-postgres.ts";

/** Joins the nodes of a state in PostgreSQL. Rejects if the node may not join, like `joinCluster`. */
export async function joinPostgres(settings: PgSettings, deps: MainStateDeps): Promise<MainState> {
  const { common, nodeId, isSetUp, signals, report, onLost } = deps;
  const { config, clock } = common;
  const log = common.log.child({ subsystem: "cluster" });
  const pauses = createPauses({ signals, log });
  const pgStats = new PgStats();
  const pools: PgPools = openPools(settings, { config, part: "main", nodeId, stats: pgStats, log });
  try {
    await refuseMissingKeys(config, postgresTaskDb(pools.main));
    const membership = await startMembership({
      pool: pools.main,
      nodeId,
      version,
      schemaVersion,
      isSolo: isSetUp && !isFollowing(config),
      settings: comparedSettings(config, followedFids(config.upstream)),
      clock,
      signals,
      pauses,
      log,
      report,
      onLost,
    });
    const { node } = membership;
    const stateClock = createSharedClock(signals);
    const db = postgresStateDb({ synced: pools.main, unsynced: pools.main }, { clock: stateClock, node });
    const readyLagSecs = config.upstream.ready_lag_secs;
    return {
      node,
      pauses,
      threadsWithWork: undefined,
      pgStats,
      postgres: {
        node,
        schemaVersion,
        away: () => pools.away,
        cluster: membership.stats,
        calls: () => pgStats.snapshot(),
      },
      incidents: {
        store: createIncidents(db),
        notices: createNoticeStore(db),
        ownerFindings: createOwnerFindings(db),
        custodies: createCustodies(db, { clock: stateClock, readyLagSecs }),
        lease: createWorkLease(pools.main, node, "maintenance"),
      },
      async stop() {
        await membership.leave();
        await pools[Symbol.asyncDispose]();
      },
    };
  } catch (cause) {
    await pools[Symbol.asyncDispose]();
    throw cause;
  }
}
