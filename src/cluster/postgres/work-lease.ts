import type { PgPool } from "../../db/postgres/pool.ts";
import type { StateNode } from "../../db/state/state-db.ts";
import { knowsMasterKey, parseSettings } from "../shared-settings.ts";
import { NODE_LEASE_MS } from "./join.ts";
import { listNodes, takeWorkLease } from "./node-rows.ts";

/** The right to do some work that one node at a time does. It saves work and decides nothing. */
export interface WorkLease {
  /** Takes or renews the lease. Returns whether this node has it. */
  hold(): Promise<boolean>;
}

/** The lease of a name. The heartbeat of the node that has it renews it, too. */
export function createWorkLease(pool: PgPool, { bootId }: StateNode, name: string): WorkLease {
  return {
    hold: async () => (await pool.get(takeWorkLease, name, bootId, NODE_LEASE_MS)) !== undefined,
  };
}

/**
 * The lease of the node that seals keys of users again, under the master key with an id. No node has it while a live node does not
 * know that key: it could no longer sign.
 */
export function createResealLease(pool: PgPool, node: StateNode, keyId: string): WorkLease {
  const lease = createWorkLease(pool, node, "reseal");
  return {
    hold: async () => (await nodesWithoutMasterKey(pool, keyId)).length === 0 && lease.hold(),
  };
}

/** The ids of the live nodes that could not open what is sealed under a master key. */
export async function nodesWithoutMasterKey(pool: PgPool, keyId: string): Promise<string[]> {
  return (await pool.all(listNodes))
    .filter(({ isLive, settings }) => isLive && !knowsMasterKey(parseSettings(settings), keyId))
    .map(({ nodeId }) => nodeId);
}
