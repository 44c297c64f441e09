import type { PgPool } from "../../db/postgres/pool.ts";
import type { StateNode } from "../../db/state/state-node.ts";
import { knowsMasterKey, parseSettings } from "../shared-settings.ts";
import { listNodes } from "./node-rows.ts";
import { createWorkLease, type WorkLease } from "./work-lease.ts";

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
