import type { PgPool } from "../../db/postgres/pool.ts";
import type { StateNode } from "../../db/state/state-db.ts";
import { knowsMasterKey, parseSettings } from "../shared-settings.ts";
import { NODE_LEASE_MS } from "./join.ts";
import { listNodes, takeWorkLease } from "./node-rows.ts";

/** The right to do work that only one node does at a time. It avoids duplicate work; correctness does not depend on it. */
export interface WorkLease {
  /** Takes or renews the lease. Returns whether this node has it. */
  hold(): Promise<boolean>;
}

/** Creates the lease of a name. The heartbeat of the node that holds it renews it, too. */
export function createWorkLease(pool: PgPool, { bootId }: StateNode, name: string): WorkLease {
  return {
    hold: async () => (await pool.get(takeWorkLease, name, bootId, NODE_LEASE_MS)) !== undefined,
  };
}

/**
 * Creates the lease for resealing users' keys under the master key with an id. No node gets it while a live node does not know that key,
 * because that node could no longer sign.
 */
export function createResealLease(pool: PgPool, node: StateNode, keyId: string): WorkLease {
  const lease = createWorkLease(pool, node, "reseal");
  return {
    hold: async () => (await nodesWithoutMasterKey(pool, keyId)).length === 0 && lease.hold(),
  };
}

/** Returns the ids of the live nodes that could not open what is sealed under a master key. */
export async function nodesWithoutMasterKey(pool: PgPool, keyId: string): Promise<string[]> {
  return (await pool.all(listNodes))
    .filter(({ isLive, settings }) => isLive && !knowsMasterKey(parseSettings(settings), keyId))
    .map(({ nodeId }) => nodeId);
}
